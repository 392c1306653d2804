// Owns the results as Markdown: goals first, then every figure with its driver's durability.

export function markdown(results) {
  return [
    "# Bench results",
    "",
    "Written by `pnpm bench`; do not edit. A goal is a ratio of two things that ran side by side in",
    "the same processes; absolute times are only shown. Peers promise less: see the durability of",
    "each driver.",
    "",
    ...goalTable(results),
    ...results.flatMap(section),
  ].join("\n");
}

function goalTable(results) {
  const rows = results.flatMap(({ name, goals }) =>
    goals.map((goal) => [
      name,
      goal.what,
      limitText(goal, goal.goal),
      goal.stretch === null ? "" : limitText(goal, goal.stretch),
      measuredText(goal),
      goal.met ? "yes" : "**no**",
    ]),
  );
  return table(["workload", "what", "goal", "stretch", "measured", "met"], rows);
}

function section(result) {
  const { machine, versions } = result;
  const rows = Object.entries(result.figures).flatMap(([group, figures]) =>
    Object.entries(figures).map(([name, row]) => [
      group,
      name,
      Object.entries(row)
        .map(([label, value]) => `${label} ${value.toLocaleString("en-US")}`)
        .join(", "),
    ]),
  );
  return [
    `## ${result.title}`,
    "",
    `${machine.cpu}, ${machine.usableCores} cores, ${machine.memoryGiB} GiB, Linux ${machine.kernel}, ` +
      `${machine.filesystem}; Node ${versions.node}, RocksDB ${versions.rocksdb}; seed ${result.seed}, ` +
      `mode ${result.mode}, load ${machine.loadAtStart[0]}, revision ${result.revision.slice(0, 12)}` +
      `${result.revision.endsWith("+changes") ? " with changes" : ""}, ${result.measuredAt}.`,
    "",
    ...Object.entries(result.durability).map(([driver, mode]) => `- ${driver}: ${mode}`),
    "",
    ...table(["group", `figure (${result.unit} where not named)`, "measured"], rows),
    `Ratios: ${Object.entries(result.ratios)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}.`,
    "",
  ];
}

function table(head, rows) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line), ""];
}

export function measuredText({ measured, unit }) {
  return valueText(measured, unit);
}

/** `<= 4x, stretch 2.5x`. */
export function goalText(goal) {
  const stretch = goal.stretch === null ? "" : `, stretch ${valueText(goal.stretch, goal.unit)}`;
  return `goal ${limitText(goal, goal.goal)}${stretch}`;
}

function limitText({ direction, unit }, value) {
  return `${direction === "atMost" ? "≤" : "≥"} ${valueText(value, unit)}`;
}

function valueText(value, unit) {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  const number = Number(value.toFixed(digits)).toLocaleString("en-US");
  return unit === "x" ? `${number}x` : `${number} ${unit}`;
}
