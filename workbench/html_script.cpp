#include "workbench/html_page.h"

namespace stave {

// Draws the timeline of the page's data on a canvas. Times are picoseconds from the window's begin.
const std::string_view timeline_script = R"js(
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const box = document.getElementById("timeline");
  const canvas = box.querySelector("canvas");
  const tip = document.getElementById("tip");
  const picked = document.getElementById("picked");
  const find = document.getElementById("find");
  const found = document.getElementById("found");
  const context = canvas.getContext("2d");
  const rowHeight = 20, gap = 2, headHeight = 24, rankHeight = 24, mostHeight = 620;
  const length = Math.max(1, data.length);

  // Rows with the offset of their top; columns of a row: start, duration, name, family, waits.
  const rows = [];
  const titleOf = (track) => (track.run ? track.run + ", rank " : "rank ") + track.rank;
  let full = 0, title = null;
  for (const track of data.tracks) {
    if (titleOf(track) !== title) {
      title = titleOf(track);
      rows.push({ title: title, top: full, head: true });
      full += rankHeight;
    }
    track.rows.forEach((flat, lane) => {
      const n = flat.length / 5;
      const row = { track: track, lane: lane, top: full, n: n, start: new Float64Array(n), end: new Float64Array(n),
        name: new Int32Array(n), family: new Uint8Array(n), waits: new Float64Array(n) };
      let at = 0;
      for (let i = 0; i < n; ++i) {
        at += flat[5 * i];
        row.start[i] = at;
        row.end[i] = at + flat[5 * i + 1];
        row.name[i] = flat[5 * i + 2];
        row.family[i] = flat[5 * i + 3];
        row.waits[i] = flat[5 * i + 4];
      }
      rows.push(row);
      full += rowHeight + gap;
    });
  }

  let from = 0, to = length, scrolled = 0, width = 0, height = 0, hover = null, selected = null, query = "", hits = [];
  let hit = -1, colours = {}, paints = {}, margin = 170;

  const units = [["s", 1e12], ["ms", 1e9], ["µs", 1e6], ["ns", 1e3], ["ps", 1]];
  const text = (ps) => {
    const [name, size] = units.find((u) => Math.abs(ps) >= u[1]) || ["ps", 1];
    return (ps / size).toFixed(size === 1 ? 0 : 3) + " " + name;
  };
  // Of a block that stands for several slices the name is negative: its count follows.
  const nameOf = (row, i) => row.name[i] >= 0 ? data.names[row.name[i]] : -row.name[i] + " slices together";
  const details = (row, i) => {
    const lines = [nameOf(row, i), text(row.end[i] - row.start[i]) + ", from " + text(data.begin + row.start[i])];
    if (row.waits[i] > 0) lines.push("of it " + text(row.waits[i]) + " waiting for peers or SMs");
    lines.push(data.families[row.family[i]].name + ", " + titleOf(row.track) + ", " + row.track.name);
    return lines.join("\n");
  };

  const x = (t) => margin + (t - from) / (to - from) * (width - margin);
  const time = (px) => from + (px - margin) / (width - margin) * (to - from);
  const first = (row, t) => {  // the first slice that ends after t
    let low = 0, high = row.n;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (row.end[mid] > t) high = mid; else low = mid + 1;
    }
    return low;
  };

  function readColours() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["page", "panel", "line", "text", "soft", "accent", "row", "select"])
      colours[name] = style.getPropertyValue("--" + name).trim();
    // What is no work of a device is darker on a dark page.
    for (const family of data.families) {
      const fill = style.getPropertyValue("--" + family.name).trim();
      paints[family.name] = fill ? { fill: fill, text: style.getPropertyValue("--on-" + family.name).trim() } : family;
    }
  }

  function resize() {
    width = box.clientWidth;
    margin = width < 700 ? 110 : 170;
    height = Math.min(mostHeight, headHeight + full + 6);
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.height = height + "px";
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    draw();
  }

  function clamp() {
    const shortest = Math.min(1000, length);
    let span = Math.min(Math.max(to - from, shortest), length);
    if (!(span > 0)) span = length;
    from = Math.min(Math.max(from, 0), length - span);
    to = from + span;
    scrolled = Math.min(Math.max(scrolled, 0), Math.max(0, headHeight + full + 6 - height));
  }

  function label(string, left, right, y, colour) {
    if (right - left < 24) return;
    context.fillStyle = colour;
    let shown = string;
    const room = right - left - 8;
    if (context.measureText(shown).width > room) {
      let low = 0, high = shown.length;
      while (low < high) {
        const mid = (low + high + 1) >> 1;
        if (context.measureText(shown.slice(0, mid) + "…").width <= room) low = mid; else high = mid - 1;
      }
      if (low < 2) return;
      shown = shown.slice(0, low) + "…";
    }
    context.fillText(shown, left + 4, y);
  }

  function drawRow(row) {
    const y = headHeight + row.top - scrolled;
    if (row.head) {
      context.fillStyle = colours.text;
      context.font = "600 12px system-ui, sans-serif";
      context.fillText(row.title, 10, y + 16);
      context.font = "12px system-ui, sans-serif";
      return;
    }
    context.fillStyle = colours.row;
    context.fillRect(margin, y, width - margin, rowHeight);
    if (row.lane === 0) {
      context.textAlign = "right";
      context.fillStyle = colours.soft;
      let title = row.track.name;
      while (title.length > 3 && context.measureText(title).width > margin - 20) title = title.slice(0, -2) + "…";
      context.fillText(title, margin - 8, y + 14);
      context.textAlign = "left";
    }
    let drawn = -1;
    for (let i = first(row, from); i < row.n && row.start[i] < to; ++i) {
      const left = Math.max(x(row.start[i]), margin), right = Math.min(x(row.end[i]), width);
      if (right - left < 1 && right <= drawn) continue;  // its pixel is taken
      const wide = Math.max(right - left, 1);
      drawn = Math.floor(left) + 1;
      const family = paints[data.families[row.family[i]].name];
      const name = query === "" ? "" : nameOf(row, i).toLowerCase();
      context.globalAlpha = query !== "" && !name.includes(query) ? 0.25 : 1;
      context.fillStyle = family.fill;
      context.fillRect(left, y, wide > 3 ? wide - 0.5 : wide, rowHeight);
      if (row.waits[i] > 0) {
        const until = Math.min(x(row.start[i] + row.waits[i]), right);
        context.fillStyle = "rgba(255,255,255,0.5)";
        if (until - left > 1) context.fillRect(left, y, until - left, rowHeight);
      }
      if (wide > 26) label(nameOf(row, i), left, right, y + 14, family.text);
      const chosen = [selected, hover].find((s) => s && s.row === row && s.i === i);
      if (chosen) {
        context.globalAlpha = 1;
        context.strokeStyle = colours.select;
        context.lineWidth = chosen === selected ? 2 : 1;
        context.strokeRect(left + 0.5, y + 0.5, Math.max(wide - 1, 1), rowHeight - 1);
      }
    }
    context.globalAlpha = 1;
  }

  function axis() {
    context.fillStyle = colours.panel;
    context.fillRect(0, 0, width, headHeight);
    const raw = (to - from) / Math.max(2, (width - margin) / 130);
    const power = Math.pow(10, Math.floor(Math.log10(raw)));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw) || raw;
    context.textAlign = "center";
    for (let t = Math.ceil((data.begin + from) / step) * step; t <= data.begin + to; t += step) {
      const at = x(t - data.begin);
      if (at < margin) continue;
      context.fillStyle = colours.line;
      context.fillRect(at, headHeight - 5, 1, height);
      context.fillStyle = colours.soft;
      const [unit, size] = units.find((u) => step >= u[1]) || ["ps", 1];
      const digits = Math.max(0, Math.min(6, -Math.floor(Math.log10(step / size) + 1e-9)));
      if (at > margin + 30 && at < width - 34) context.fillText((t / size).toFixed(digits) + " " + unit, at, 15);
    }
    context.textAlign = "left";
  }

  let asked = false;
  function draw() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      clamp();
      context.fillStyle = colours.page;
      context.fillRect(0, 0, width, height);
      context.font = "12px system-ui, sans-serif";
      axis();
      context.save();
      context.beginPath();
      context.rect(0, headHeight, width, height - headHeight);
      context.clip();
      for (const row of rows)
        if (headHeight + row.top - scrolled < height && headHeight + row.top - scrolled + rankHeight > headHeight) drawRow(row);
      context.restore();
    });
  }

  function sliceAt(px, py) {
    const y = py - headHeight + scrolled;
    if (py < headHeight || px < margin) return null;
    for (const row of rows) {
      if (row.head || y < row.top || y >= row.top + rowHeight) continue;
      const slack = 2 * (to - from) / (width - margin), t = time(px);
      let best = null, near = Infinity;
      for (let i = first(row, t - slack); i < row.n && row.start[i] <= t + slack; ++i) {
        const far = t < row.start[i] ? row.start[i] - t : t > row.end[i] ? t - row.end[i] : 0;
        if (far < near) { near = far; best = { row: row, i: i }; }
      }
      return best;
    }
    return null;
  }

  function zoom(factor, around) {
    const span = Math.min(Math.max((to - from) * factor, Math.min(1000, length)), length);
    const part = (around - from) / (to - from);
    from = around - part * span;
    to = from + span;
    draw();
  }
  function pan(part) {
    const by = part * (to - from);
    from += by;
    to += by;
    draw();
  }
  function show(slice) {
    selected = slice;
    picked.textContent = slice ? details(slice.row, slice.i) : "";
    draw();
  }
  function reveal(slice) {
    const { row, i } = slice, long = Math.max(row.end[i] - row.start[i], 1000);
    if (row.start[i] < from || row.end[i] > to || long < (to - from) / 200) {
      const middle = (row.start[i] + row.end[i]) / 2;
      from = middle - long * 8;
      to = middle + long * 8;
    }
    const y = headHeight + row.top - scrolled;
    if (y < headHeight || y > height - rowHeight) scrolled = row.top - height / 2;
    show(slice);
  }
  function fit() {
    from = 0;
    to = length;
    draw();
  }

  let drag = null;
  canvas.addEventListener("pointerdown", (e) => {
    drag = { x: e.offsetX, y: e.offsetY, moved: false };
    canvas.setPointerCapture(e.pointerId);
    canvas.focus({ preventScroll: true });
  });
  canvas.addEventListener("pointermove", (e) => {
    if (drag) {
      const dx = e.offsetX - drag.x, dy = e.offsetY - drag.y;
      if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
      drag.moved = true;
      canvas.classList.add("dragged");
      pan(-dx / (width - margin));
      scrolled -= dy;
      drag.x = e.offsetX;
      drag.y = e.offsetY;
      tip.style.display = "none";
      return;
    }
    hover = sliceAt(e.offsetX, e.offsetY);
    tip.style.display = hover ? "block" : "none";
    if (hover) {
      tip.textContent = details(hover.row, hover.i);
      tip.style.left = Math.max(4, Math.min(e.offsetX + 14, width - tip.offsetWidth - 8)) + "px";
      tip.style.top = Math.max(4, Math.min(e.offsetY + 16, height - tip.offsetHeight - 8)) + "px";
    }
    draw();
  });
  canvas.addEventListener("pointerup", (e) => {
    canvas.classList.remove("dragged");
    if (drag && !drag.moved) show(sliceAt(e.offsetX, e.offsetY));
    drag = null;
  });
  canvas.addEventListener("pointerleave", () => {
    hover = null;
    tip.style.display = "none";
    draw();
  });
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault();
    const by = e.deltaMode === 1 ? 16 * e.deltaY : e.deltaY;
    if (e.shiftKey) {
      scrolled += by || e.deltaX;
      draw();
    } else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      pan(e.deltaX / (width - margin));
    } else {
      zoom(Math.exp(Math.max(-240, Math.min(240, by)) / 300), time(Math.max(e.offsetX, margin)));
    }
  }, { passive: false });
  canvas.addEventListener("dblclick", () => { if (selected) reveal(selected); });
  document.addEventListener("keydown", (e) => {
    if (e.target === find || e.ctrlKey || e.metaKey || e.altKey) return;
    const middle = (from + to) / 2, key = e.key.toLowerCase();
    const at = hover ? (hover.row.start[hover.i] + hover.row.end[hover.i]) / 2 : middle;
    const around = at >= from && at <= to ? at : middle;
    if (key === "w" || key === "+") zoom(0.7, around);
    else if (key === "s" || key === "-") zoom(1 / 0.7, around);
    else if (key === "a") pan(-0.2);
    else if (key === "d") pan(0.2);
    else if (key === "f" && selected) reveal(selected);
    else if (key === "0" || key === "home") fit();
    else if (key === "/") find.focus();
    else if (key === "escape") show(null);
    else return;
    e.preventDefault();
  });

  function search() {
    query = find.value.trim().toLowerCase();
    hits = [];
    hit = -1;
    if (query !== "") {
      const match = data.names.map((n) => n.toLowerCase().includes(query));
      for (const row of rows)
        for (let i = 0; i < (row.n || 0); ++i) if (row.name[i] >= 0 && match[row.name[i]]) hits.push({ row: row, i: i });
      hits.sort((p, q) => p.row.start[p.i] - q.row.start[q.i]);
    }
    found.textContent = query === "" ? "" : hits.length + (hits.length === 1 ? " match" : " matches");
    draw();
  }
  find.addEventListener("input", search);
  find.addEventListener("keydown", (e) => {
    if (e.key === "Escape") { find.value = ""; search(); canvas.focus(); }
    if (e.key !== "Enter" || hits.length === 0) return;
    hit = (hit + (e.shiftKey ? hits.length - 1 : 1)) % hits.length;
    if (hit < 0) hit = 0;
    found.textContent = (hit + 1) + " of " + hits.length;
    reveal(hits[hit]);
  });
  document.getElementById("fit").addEventListener("click", fit);
  document.getElementById("in").addEventListener("click", () => zoom(0.6, (from + to) / 2));
  document.getElementById("out").addEventListener("click", () => zoom(1 / 0.6, (from + to) / 2));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { readColours(); draw(); });
  new ResizeObserver(resize).observe(box);
  readColours();
  resize();
})();
)js";

}  // namespace stave
