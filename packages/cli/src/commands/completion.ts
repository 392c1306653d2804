// Owns the completion scripts, made from the commands themselves so that they cannot drift.

import { AgentTxError } from "@agenttx/model";
import type { Command } from "commander";

/** A script for `bash`, `zsh` or `fish`; INVALID_ARGUMENT for another shell. */
export function completion(program: Command, shell: string): string {
  const words = wordsOf(program);
  if (shell === "bash") return bash(words);
  if (shell === "zsh")
    return `#compdef agenttx\nautoload -U bashcompinit && bashcompinit\n${bash(words)}`;
  if (shell === "fish") return fish(program);
  throw new AgentTxError(
    "INVALID_ARGUMENT",
    `There is no completion for the shell ${shell}. Give bash, zsh or fish.`,
    { details: { shell } },
  );
}

/** Command -> what may follow it: options and subcommands. */
function wordsOf(program: Command): Map<string, string[]> {
  const words = new Map<string, string[]>();
  words.set("", [...program.commands.map((one) => one.name()), "--help", "--version"]);
  for (const command of program.commands) {
    const below = command.commands.map((one) => one.name());
    const options = [command, ...command.commands].flatMap((one) =>
      one.options.map((option) => option.long ?? ""),
    );
    words.set(command.name(), [...new Set([...below, ...options, "--help"])].filter(Boolean));
  }
  return words;
}

function bash(words: ReadonlyMap<string, readonly string[]>): string {
  const cases = [...words]
    .filter(([command]) => command !== "")
    .map(([command, after]) => `    ${command}) words="${after.join(" ")}" ;;`);
  return [
    "# agenttx completion: source it, or put it into your completions directory.",
    "_agenttx() {",
    '  local current="$' + '{COMP_WORDS[COMP_CWORD]}" words=""',
    '  if [ "$COMP_CWORD" -le 1 ]; then',
    `    words="${(words.get("") ?? []).join(" ")}"`,
    '  else case "$' + '{COMP_WORDS[1]}" in',
    ...cases,
    "  esac; fi",
    '  COMPREPLY=($(compgen -W "$words" -- "$current"))',
    "}",
    "complete -o default -F _agenttx agenttx",
    "",
  ].join("\n");
}

function fish(program: Command): string {
  const quote = (text: string) => `'${text.replace(/['\\]/g, "\\$&")}'`;
  const lines = ["# agenttx completion: put it into ~/.config/fish/completions/agenttx.fish"];
  for (const command of program.commands) {
    lines.push(
      `complete -c agenttx -n __fish_use_subcommand -a ${command.name()} -d ${quote(command.description())}`,
    );
    for (const one of [command, ...command.commands]) {
      for (const option of one.options) {
        const name = option.long?.replace(/^--/, "") ?? "";
        lines.push(
          `complete -c agenttx -n '__fish_seen_subcommand_from ${command.name()}' -l ${name} -d ${quote(option.description)}`,
        );
      }
    }
    for (const below of command.commands) {
      lines.push(
        `complete -c agenttx -n '__fish_seen_subcommand_from ${command.name()}' -a ${below.name()}`,
      );
    }
  }
  return `${lines.join("\n")}\n`;
}
