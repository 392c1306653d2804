// Goal: S1 and S2, and which lines are frames. Method: tables of printed traces of each runtime and
// what has to be left of them.

import { describe, expect, it } from "vitest";
import { segmentsOf } from "./segments.js";

describe("a text without a trace", () => {
  it.each(["", "plain words", "words with [cause] but no mark", "see---> here", "   "])(
    "stays one piece: %j",
    (text) => expect(segmentsOf(text)).toEqual([[text]]),
  );

  it("keeps its lines and its blank lines", () =>
    expect(segmentsOf("one\n\n  \ntwo\n")).toEqual([["one\n\n  \ntwo\n"]]));

  it("with blank lines alone has no segment", () => expect(segmentsOf("\n \n")).toEqual([[]]));
});

describe("frames", () => {
  const frames = [
    // V8, Java, .NET
    "    at Object.<anonymous> (/app/x.js:1:2)",
    "\tat com.shop.Order.save(Order.java:10)",
    "    at async run",
    "  at Shop.Save() in /src/Shop.cs:line 3",
    "    at /app/tool.js:3:4",
    "\t\tat a:b",
    "    at new Thing(x)",
    // Java
    "\t... 61 more",
    "  ... 123456 more",
    // Go, Ruby, Elixir, Rust, PHP
    "\t/usr/local/go/src/net.go:44",
    "\t/a:1 +0x1d",
    "\t./main.go:7",
    "\t../lib/main.go:7",
    "   3: core::result::unwrap_failed",
    "1234: <alloc::vec::Vec<T>>".padStart(30),
    "    (ecto 3.1) lib/ecto/repo.ex:18",
    "    app/models/order.rb:12",
    "    test/a_test.exs:5",
    "    src/main.rs:77",
    "    vendor/orm-2/src/Query.php:120",
    "    pkg/db.go:1",
    // PHP
    "#0 /app/index.php(12)",
    "#12 {main}",
    "#123 [internal function]",
    "#7 App::run()",
  ];
  it.each(frames)("%j is one", (frame) =>
    expect(segmentsOf(`first\n${frame}\nlast`)).toEqual([["first\nlast"]]),
  );
  it.each(frames)("%j is one at the end", (frame) =>
    expect(segmentsOf(`first\n${frame}`)).toEqual([["first"]]),
  );

  const words = [
    "at the beginning (of a line)",
    "",
    " ",
    "\t \t",
    "  at items[0].qty",
    "  at [2]",
    "  at qty ",
    "  attempt 3: x",
    "    ... and more",
    "  ... 61more",
    "  ...61 more",
    "  ... 1234567 more",
    "  .hidden:1",
    "  ./no-line",
    "  /etc/passwd",
    "  / a:1",
    "  12: plain",
    "  12345: a::b",
    "  1: -::x",
    "  x 1: a::b",
    "  order.rb:x",
    "  order.java:12",
    "  a b.rb:12",
    "  (too many words in brackets to be an application name) lib/a.ex:1",
    "#1234 [x",
    "#x [y",
    "#12[x",
    "#3 (x",
    "# 3",
    " #0 /app/index.php(12)",
    "  Traceback",
    '  File: "a.py"',
    'File "a.py", line 3',
  ];
  it.each(words)("%j is none", (line) =>
    expect(segmentsOf(`first\n${line}\nlast`)).toEqual([[`first\n${line}\nlast`]]),
  );

  it("are looked for in the line alone, not behind it", () =>
    expect(segmentsOf("a\n  at b\n(c)\n  x\ny.rb:1 at z")).toEqual([
      ["a\n  at b\n(c)\n  x\ny.rb:1 at z"],
    ]));

  it("may be long", () => {
    const name = "n".repeat(100);
    expect(segmentsOf(`a\n  ${name}/x.rb:1\n  at ${"m".repeat(300)} (x)`)).toEqual([["a"]]);
    const field = `  at ${"f".repeat(260)} x`;
    expect(segmentsOf(`a\n${field}`)).toEqual([[`a\n${field}`]]);
    const place = `  ${"p".repeat(121)}.rb:1`;
    expect(segmentsOf(`a\n${place}`)).toEqual([[`a\n${place}`]]);
  });
});

describe("a Python traceback", () => {
  it("loses its title, its frames and their source lines", () =>
    expect(
      segmentsOf(
        'Traceback (most recent call last):\n  File "/a.py", line 3, in f\n    raise KeyError("timeout")\n    ^^^^^\nValueError: bad qty\n  hint: a word',
      ),
    ).toEqual([["ValueError: bad qty\n  hint: a word"]]));

  it("also without its first line", () =>
    expect(segmentsOf('x\n  File "/a.py", line 3\n    connect(timeout=3)\ny\n    z')).toEqual([
      ["x\ny\n    z"],
    ]));

  it("keeps an inner traceback's title, and blank lines do not end it", () =>
    expect(
      segmentsOf("Traceback (most recent call last):\n\n    code()\n  Traceback of b\nE: f\n  g"),
    ).toEqual([["\n  Traceback of b\nE: f\n  g"]]));

  it("puts what escaped first, and what was being handled in a group behind it", () =>
    expect(
      segmentsOf(
        "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nValueError: b\n\nDuring handling of the above exception, another exception occurred: \n\nTypeError: c",
      ),
    ).toEqual([["\nTypeError: c"], ["\nValueError: b\n"], ["KeyError: 'a'\n"]]));

  it("keeps a direct cause in the chain, deepest first", () =>
    expect(
      segmentsOf(
        "KeyError: 'a'\nThe above exception was the direct cause of the following exception: \nValueError: b",
      ),
    ).toEqual([["KeyError: 'a'", "ValueError: b"]]));
});

describe("causes", () => {
  it.each(["Caused by:", "Suppressed: ", "--->", "---> ", "[cause]: ", "[errors]: "])(
    "behind %j come first, deepest first",
    (mark) => expect(segmentsOf(`a\n${mark}b\n\tat x(y:1)\n  ${mark}c`)).toEqual([["c", "b", "a"]]),
  );

  it.each([" ---> b", " [cause]: b", "\t--->\tb"])("in the middle of a line: %j", (rest) =>
    expect(segmentsOf(`a${rest}\nc`)).toEqual([["b\nc", "a"]]),
  );

  it("in a single line", () => expect(segmentsOf("a ---> b ---> c")).toEqual([["b ---> c", "a"]]));

  it("end a source excerpt", () =>
    expect(segmentsOf("Traceback (most recent call last):\nCaused by: b\n  c")).toEqual([
      [" b\n  c"],
    ]));

  it.each(["x Caused by: b", `${" ".repeat(13)}Caused by: b`, "Caused by b", "[cause] b"])(
    "are not seen in %j",
    (line) => expect(segmentsOf(`a\n${line}`)).toEqual([[`a\n${line}`]]),
  );

  it("of PHP come last in the text", () =>
    expect(segmentsOf("PDOException: a\n#0 /x.php(1)\n\nNext Shop\\OrderError: b")).toEqual([
      ["PDOException: a\n", "Next Shop\\OrderError: b"],
    ]));

  it.each(["Next step", "A Next Shop\\OrderError: b", "Nexts XError: b"])(
    "of PHP are not seen in %j",
    (line) => expect(segmentsOf(`a\n${line}`)).toEqual([[`a\n${line}`]]),
  );

  it("without words are left out", () =>
    expect(segmentsOf("a\nCaused by:  \nCaused by: c")).toEqual([[" c", "a"]]));
});
