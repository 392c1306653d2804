// Owns the chart of the README: every goal as one bar, in one small SVG that is readable on light
// and on dark ground. A bar shows how much of the limit is used: shorter is better in every row,
// and what ends left of the line at 100 % meets its goal.
import { goalText, measuredText } from "./markdown.mjs";

const WIDTH = 900;
const LABEL_WIDTH = 430;
const ROW_HEIGHT = 26;
const TOP = 58;
const BAR_LEFT = LABEL_WIDTH + 20;
const BAR_WIDTH = 260;
/** Share of the limit at the right end of the bars. */
const SHARE_MAX = 1.25;

const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .quiet { fill: #57606a; }
  .track { fill: #d0d7de; opacity: 0.45; }
  .met { fill: #1a7f37; } .missed { fill: #bc4c00; }
  .goal { stroke: #24292f; stroke-width: 1.5; } .stretch { stroke: #57606a; stroke-dasharray: 2 2; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .quiet { fill: #9198a1; } .track { fill: #3d444d; opacity: 0.6; }
    .met { fill: #3fb950; } .missed { fill: #f0883e; }
    .goal { stroke: #e6edf3; } .stretch { stroke: #9198a1; }
  }`;

export function chart(results) {
  const goals = results.flatMap((result) => result.goals);
  const height = TOP + goals.length * ROW_HEIGHT + 14;
  const first = results[0];
  const where =
    first === undefined
      ? ""
      : `${first.machine.cpu}, ${first.machine.usableCores} cores, Node ${first.versions.node}, ` +
        `RocksDB ${first.versions.rocksdb}`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}"`,
    ` height="${height}" role="img" aria-label="Measured ratios against their goals">`,
    `<style>${STYLE}\n</style>`,
    text(12, 22, "Measured against its goal: shorter is better", "title"),
    text(12, 42, `${where}. Solid line: goal. Dotted: stretch.`, "quiet"),
    ...goals.map((goal, index) => row(goal, TOP + index * ROW_HEIGHT)),
    "</svg>\n",
  ].join("\n");
}

function row(goal, y) {
  const share = shareOf(goal, goal.measured);
  const length = Math.max(xOf(share), 2);
  const middle = y + 14;
  const parts = [
    text(12, middle, goal.what),
    `<rect class="track" x="${BAR_LEFT}" y="${y + 3}" width="${BAR_WIDTH}" height="15" rx="2"/>`,
    `<rect class="${goal.met ? "met" : "missed"}" x="${BAR_LEFT}" y="${y + 3}" width="${length}" height="15" rx="2"/>`,
    mark("goal", xOf(1), y),
  ];
  if (goal.stretch !== null) parts.push(mark("stretch", xOf(shareOf(goal, goal.stretch)), y));
  parts.push(text(BAR_LEFT + BAR_WIDTH + 10, middle, measuredText(goal)));
  parts.push(`<title>${escaped(`${goal.what}: ${measuredText(goal)}, ${goalText(goal)}`)}</title>`);
  return `<g>${parts.join("")}</g>`;
}

/** How much of the limit is used: 1 = exactly at the goal. */
function shareOf({ direction, goal }, value) {
  return direction === "atMost" ? value / goal : goal / value;
}

function xOf(share) {
  return Math.round((Math.min(share, SHARE_MAX) / SHARE_MAX) * BAR_WIDTH * 10) / 10;
}

function mark(kind, x, y) {
  const at = BAR_LEFT + x;
  return `<line class="${kind}" x1="${at}" y1="${y}" x2="${at}" y2="${y + 21}"/>`;
}

function text(x, y, content, kind) {
  const attribute = kind === undefined ? "" : ` class="${kind}"`;
  return `<text x="${x}" y="${y}"${attribute}>${escaped(content)}</text>`;
}

function escaped(content) {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
