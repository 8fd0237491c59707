#include "workbench/html_page.h"

namespace stave {

const std::string_view html_style = R"css(
:root { --page: #ffffff; --panel: #f6f7f9; --line: #d5d9de; --text: #1c2127; --soft: #58616c; --accent: #0072b2;
  --row: #eef0f3; --select: #000000; --bad: #d55e00;
  --mark: #d3d7dc; --on-mark: #000000; --host: #b3b9c0; --on-host: #000000; --stream: #e9e3a6; --on-stream: #000000; }
@media (prefers-color-scheme: dark) {
  :root { --page: #14171a; --panel: #1d2125; --line: #363c43; --text: #e7eaed; --soft: #a3adb8; --accent: #56b4e9;
    --row: #22272c; --select: #ffffff; --bad: #ff8a3d;
    --mark: #454c54; --on-mark: #f2f4f6; --host: #5d666f; --on-host: #ffffff; --stream: #6b673d; --on-stream: #ffffff; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 14px/1.45 system-ui, "DejaVu Sans", sans-serif; }
main { max-width: 1720px; margin: 0 auto; padding: 24px 28px 48px; }
h1 { font-size: 22px; margin: 0 0 4px; overflow-wrap: anywhere; }
h2 { font-size: 16px; margin: 0 0 10px; }
p { margin: 0 0 8px; }
code { font-family: ui-monospace, "DejaVu Sans Mono", monospace; font-size: 0.92em; }
.about, .note { color: var(--soft); }
.note { margin-top: 8px; font-size: 13px; }
section { margin-top: 28px; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 12px; margin-top: 18px; }
.figure { background: var(--panel); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; }
.figure b { display: block; font-size: 20px; font-weight: 600; font-variant-numeric: tabular-nums; }
.figure span { color: var(--soft); font-size: 13px; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(560px, 1fr)); gap: 0 32px; }
.columns > * { min-width: 0; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 12px 5px 0; border-bottom: 1px solid var(--line); vertical-align: top; }
td { white-space: nowrap; }
td:first-child { min-width: 150px; }
td.clipped { max-width: 260px; overflow: hidden; text-overflow: ellipsis; }
td.clipped:first-child { max-width: 0; width: 100%; min-width: 220px; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; }
th.number, td.number { text-align: right; white-space: nowrap; }
tbody tr:hover { background: var(--panel); }
.chart { width: 100%; max-width: 1160px; height: auto; display: block; }
.chart text { fill: var(--text); font-size: 12px; }
.chart .soft { fill: var(--soft); }
.chart .track { fill: var(--row); }
.chart .axis { stroke: var(--line); }
.keys { display: flex; flex-wrap: wrap; gap: 6px 18px; color: var(--soft); font-size: 13px; margin: 8px 0 0; padding: 0; list-style: none; }
.keys svg { width: 12px; height: 12px; vertical-align: -1px; margin-right: 6px; }
.tools { display: flex; flex-wrap: wrap; gap: 8px 14px; align-items: center; margin-bottom: 8px; }
.tools input { font: inherit; color: var(--text); background: var(--page); border: 1px solid var(--line);
  border-radius: 6px; padding: 5px 10px; width: 260px; }
.tools button { font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--line);
  border-radius: 6px; padding: 5px 12px; cursor: pointer; }
.tools button:hover { border-color: var(--accent); }
.tools :focus-visible, canvas:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
#timeline { position: relative; border: 1px solid var(--line); border-radius: 8px; overflow: hidden; background: var(--page); }
#timeline canvas { display: block; width: 100%; cursor: grab; touch-action: none; }
#timeline canvas.dragged { cursor: grabbing; }
#tip { position: absolute; pointer-events: none; max-width: 440px; background: var(--panel); color: var(--text);
  border: 1px solid var(--line); border-radius: 6px; padding: 7px 10px; font-size: 13px; box-shadow: 0 2px 10px #0004;
  overflow-wrap: anywhere; display: none; white-space: pre-line; }
#picked { color: var(--soft); min-height: 1.5em; margin-top: 8px; white-space: pre-line; overflow-wrap: anywhere; }
.warn { border-left: 3px solid var(--bad); padding-left: 10px; margin-top: 8px; }
.family-mark { fill: var(--mark); } .family-host { fill: var(--host); } .family-stream { fill: var(--stream); }
@media print { .tools, #timeline { display: none; } }
)css";

}  // namespace stave
