// Draws every board view of a page on a canvas, in place of its drawing for readers without scripts.
// Data: integers of 10 um; the positions of a list are its first point and then steps.
"use strict";

function showBoardViews(root) {
  for (const box of root.querySelectorAll(".board-view")) new BoardView(box);
}

class BoardView {
  constructor(box) {
    this.box = box;
    box.view = this;
    this.stage = box.querySelector(".view-stage");
    this.canvas = box.querySelector("canvas");
    this.status = box.querySelector(".view-status");
    this.off = new Set();
    this.chosen = null;
    this.paths = new Map();
    this.unpacked().then((scene) => this.start(scene), () => {});
  }

  async unpacked() {
    const text = this.box.querySelector(".view-data").textContent.trim();
    if (text.startsWith("{")) return JSON.parse(text);
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).json();
  }

  start(scene) {
    this.scene = scene;
    this.box.classList.add("live");
    for (const part of this.box.querySelectorAll("[hidden]")) part.hidden = false;
    this.paper = this.canvas.getContext("2d");
    this.last = document.createElement("canvas");
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.stage);
    this.resize();
    addEventListener("beforeprint", () => this.drawOnPaper(), { once: true });
    this.followHash();
    this.box.dataset.ready = Math.round(performance.now());
  }

  // --- the window: x and y of its left top corner in units, and pixels per unit

  resize() {
    const { clientWidth: width, clientHeight: height } = this.stage;
    if (!width || !height) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2);
    const first = !this.width;
    Object.assign(this, { width, height, ratio });
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.lastView = null;
    if (first || !this.moved) this.fit(this.scene.box);
    this.draw();
  }

  fit([left, top, width, height], margin = 1) {
    this.scale = Math.min(this.width / width, this.height / height) / margin;
    this.x = left + width / 2 - this.width / this.scale / 2;
    this.y = top + height / 2 - this.height / this.scale / 2;
  }

  all() {
    this.fit(this.scene.box);
    this.moved = false;
    this.soon();
  }

  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const least = Math.min(this.width / this.scene.box[2], this.height / this.scene.box[3]) / 2;
    const scale = Math.min(Math.max(this.scale * factor, least), 20);
    this.x += px / this.scale - px / scale;
    this.y += py / this.scale - py / scale;
    this.scale = scale;
    this.moved = true;
    this.soon();
  }

  pan(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.moved = true;
    this.soon();
  }

  lookAt([left, top, width, height]) {
    const least = 1000; // at least 10 mm in view
    const wide = Math.max(width * 1.25, least), high = Math.max(height * 1.25, least);
    this.fit([left + width / 2 - wide / 2, top + height / 2 - high / 2, wide, high]);
    this.moved = true;
    this.soon();
  }

  // --- drawing: a large board moves as a picture, and is drawn sharp when it rests

  soon() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = 0;
      if ((this.took || 0) < 24 || !this.lastView) return this.draw();
      this.shift();
      clearTimeout(this.rest);
      this.rest = setTimeout(() => this.draw(), 90);
    });
  }

  shift() {
    const was = this.lastView, k = this.scale / was.scale;
    this.paper.setTransform(1, 0, 0, 1, 0, 0);
    this.paper.fillStyle = this.colour("--card");
    this.paper.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const dx = (was.x - this.x) * this.scale * this.ratio, dy = (was.y - this.y) * this.scale * this.ratio;
    this.paper.drawImage(this.last, dx, dy, this.last.width * k, this.last.height * k);
  }

  draw() {
    const begun = performance.now(), paper = this.paper, scene = this.scene;
    const unit = this.scale * this.ratio;
    paper.setTransform(1, 0, 0, 1, 0, 0);
    paper.globalAlpha = 1;
    paper.fillStyle = this.colour("--card");
    paper.fillRect(0, 0, this.canvas.width, this.canvas.height);
    paper.setTransform(unit, 0, 0, unit, -this.x * unit, -this.y * unit);
    paper.lineCap = paper.lineJoin = "round";
    const pixel = 1 / this.scale, dim = this.chosen ? 0.4 : 1;
    const muted = this.colour("--muted"), text = this.colour("--text");
    if (this.on("planes")) this.drawPlanes(muted);
    paper.globalAlpha = 0.75 * dim;
    for (const side of [1, 0]) if (this.on(`side-${side}`)) this.drawParts(side, muted, pixel, dim);
    paper.globalAlpha = dim;
    for (const [key, path] of this.trackPaths()) this.drawTracks(key, path, text, pixel, dim);
    paper.globalAlpha = 0.45 * dim;
    if (this.on("vias")) this.fillPath("holes", () => this.discs(scene.holes), muted);
    paper.globalAlpha = 1;
    paper.lineWidth = 1.5 * pixel;
    paper.strokeStyle = text;
    paper.stroke(this.path("outline", () => this.polylines(scene.outline)));
    if (this.chosen) this.drawChosen(this.chosen, pixel);
    paper.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    if (this.on("names")) this.drawNames(text, dim);
    this.drawPins();
    this.took = performance.now() - begun;
    this.keep();
  }

  // Paper shows the drawing for readers without scripts; the tracks are added when it is first printed.
  drawOnPaper() {
    const make = (name) => document.createElementNS("http://www.w3.org/2000/svg", name);
    const group = make("g");
    group.setAttribute("class", "tracks");
    const named = ([colour]) => (this.scene.colours[colour] ? 1 : 0);
    for (const [colour, , width, ends] of [...this.scene.tracks].sort((a, b) => named(a) - named(b))) {
      let x = 0, y = 0, d = "";
      for (let k = 0; k < ends.length; k += 4) {
        d += `M${(x += ends[k])} ${(y += ends[k + 1])}`;
        d += `L${(x += ends[k + 2])} ${(y += ends[k + 3])}`;
      }
      const path = make("path");
      path.setAttribute("d", d);
      path.setAttribute("stroke-width", width);
      path.setAttribute("stroke", this.scene.colours[colour] || "#999");
      group.append(path);
    }
    this.box.querySelector(".board-map .outline").after(group);
  }

  keep() {
    this.last.width = this.canvas.width;
    this.last.height = this.canvas.height;
    this.last.getContext("2d").drawImage(this.canvas, 0, 0);
    this.lastView = { x: this.x, y: this.y, scale: this.scale };
  }

  drawPlanes(muted) {
    this.paper.fillStyle = muted;
    this.paper.globalAlpha = 0.16;
    this.scene.layers.forEach((_, layer) => {
      if (!this.on(`layer-${layer}`)) return;
      const path = this.path(`planes-${layer}`, () => {
        const grid = this.scene.grid;
        return this.polylines(this.scene.planes.filter((one) => one[0] === layer).map((one) => one[1]), grid, true);
      });
      this.paper.fill(path, "nonzero");
    });
  }

  drawParts(side, muted, pixel, dim) {
    this.paper.strokeStyle = this.paper.fillStyle = muted;
    this.paper.lineWidth = pixel;
    this.paper.globalAlpha = (side ? 0.45 : 0.85) * dim;
    this.paper.setLineDash(side ? [4 * pixel, 3 * pixel] : []);
    this.paper.stroke(this.path(`yards-${side}`, () => this.yards(side)));
    this.paper.setLineDash([]);
    this.paper.globalAlpha = (side ? 0.25 : 0.5) * dim;
    const both = (one) => one[4] === side || (one[4] === 2 && side === (this.on("side-0") ? 0 : 1));
    this.fillPath(`pads-${side}-${this.on("side-0")}`, () => this.boxes(this.scene.pads.filter(both)), muted);
  }

  drawTracks(key, path, text, pixel, dim) {
    const [colour, layer, width] = key.split(" ");
    if (!this.on(`layer-${layer}`)) return;
    const named = this.scene.colours[colour];
    this.paper.globalAlpha = (named ? 0.9 : 0.35) * dim;
    this.paper.strokeStyle = named || text;
    this.paper.lineWidth = Math.max(Number(width), pixel);
    this.paper.stroke(path);
  }

  drawChosen(place, pixel) {
    const paper = this.paper;
    const colour = this.severity(place.sev);
    const path = (name, make) => this.path(`${place.id} ${name}`, make);
    paper.fillStyle = paper.strokeStyle = colour;
    paper.globalAlpha = 0.85;
    for (const [layer, width, ends] of place.lines || []) {
      paper.lineWidth = Math.max(width, 2.5 * pixel);
      paper.stroke(path(`lines ${layer} ${width} ${ends.length} ${ends[0]} ${ends[1]}`, () => this.segments([ends])));
    }
    paper.lineWidth = 2 * pixel;
    const solid = path("solid", () => {
      const made = this.discs(place.discs || []);
      made.addPath(this.boxes(place.boxes || []));
      return made;
    });
    paper.fill(solid);
    paper.stroke(solid);
    for (const list of place.points || []) {
      for (const [x, y] of points(list)) {
        paper.beginPath();
        paper.arc(x, y, Math.max(25, 6 * pixel), 0, 7);
        paper.stroke();
      }
    }
    paper.globalAlpha = 1;
  }

  drawNames(text, dim) {
    const paper = this.paper;
    paper.globalAlpha = dim;
    paper.fillStyle = text;
    paper.textAlign = "center";
    paper.textBaseline = "middle";
    for (const [name, side, left, top, width, height] of this.scene.parts) {
      const w = width * this.scale, h = height * this.scale;
      if (!name || !this.on(`side-${side}`)) continue;
      const size = Math.min(13, Math.max(w, h) / name.length * 1.5, Math.min(w, h) * 0.9);
      if (size < 7) continue;
      const [x, y] = this.pixel(left + width / 2, top + height / 2);
      if (x < 0 || y < 0 || x > this.width || y > this.height) continue;
      paper.font = `${size.toFixed(1)}px system-ui, sans-serif`;
      paper.save();
      paper.translate(x, y);
      if (h > 1.4 * w) paper.rotate(-Math.PI / 2);
      paper.lineWidth = 2.5;
      paper.strokeStyle = this.colour("--card");
      paper.strokeText(name, 0, 0);
      paper.fillText(name, 0, 0);
      paper.restore();
    }
    paper.globalAlpha = 1;
  }

  drawPins() {
    const paper = this.paper, radius = 11;
    this.pins = [];
    for (const place of this.scene.places) {
      let [x, y] = this.pixel(...place.at);
      while (this.pins.some((pin) => Math.hypot(pin.x - x, pin.y - y) < 2 * radius)) x += 2 * radius + 1;
      this.pins.push({ x, y, place });
    }
    paper.textAlign = "center";
    paper.textBaseline = "middle";
    paper.font = "700 12px system-ui, sans-serif";
    for (const { x, y, place } of this.pins) {
      const colour = this.severity(place.sev), here = place === this.chosen;
      paper.beginPath();
      paper.arc(x, y, radius, 0, 7);
      paper.fillStyle = here ? colour : this.colour("--card");
      paper.fill();
      paper.lineWidth = 2;
      paper.strokeStyle = colour;
      paper.stroke();
      paper.fillStyle = here ? this.colour("--card") : colour;
      paper.fillText(String(place.n), x, y + 0.5);
    }
  }

  // --- shapes

  path(name, make) {
    if (!this.paths.has(name)) this.paths.set(name, make());
    return this.paths.get(name);
  }

  fillPath(name, make, colour) {
    this.paper.fillStyle = colour;
    this.paper.fill(this.path(name, make));
  }

  trackPaths() {
    return this.path("tracks", () => {
      const found = new Map();
      for (const [colour, layer, width, ends] of this.scene.tracks) {
        const key = `${colour} ${layer} ${width}`;
        if (!found.has(key)) found.set(key, new Path2D());
        found.get(key).addPath(this.segments([ends]));
      }
      const depth = this.scene.layers.length;
      const order = ([key]) => { const [c, l] = key.split(" "); return (this.scene.colours[c] ? depth : 0) - l; };
      return [...found].sort((a, b) => order(a) - order(b));
    });
  }

  polylines(lists, unit = 1, closed = false) {
    const made = new Path2D();
    for (const list of lists) {
      let x = list[0] * unit, y = list[1] * unit;
      made.moveTo(x, y);
      for (let k = 2; k < list.length; k += 2) made.lineTo((x += list[k] * unit), (y += list[k + 1] * unit));
      if (closed) made.closePath();
    }
    return made;
  }

  segments(lists) {
    const made = new Path2D();
    for (const list of lists) {
      let x = 0, y = 0;
      for (let k = 0; k < list.length; k += 4) {
        made.moveTo((x += list[k]), (y += list[k + 1]));
        made.lineTo((x += list[k + 2]), (y += list[k + 3]));
      }
    }
    return made;
  }

  discs(groups) {
    const made = new Path2D();
    for (const [size, list] of groups) {
      for (const [x, y] of points(list)) {
        made.moveTo(x + size / 2, y);
        made.arc(x, y, size / 2, 0, 2 * Math.PI);
      }
    }
    return made;
  }

  boxes(groups) {
    const made = new Path2D();
    for (const [width, height, corner, turn, , list] of groups) {
      const one = new Path2D(), angle = (-turn * Math.PI) / 1800;
      one.roundRect(-width / 2, -height / 2, width, height, Math.min(corner, width / 2, height / 2));
      const [a, b] = [Math.cos(angle), Math.sin(angle)];
      for (const [x, y] of points(list)) made.addPath(one, new DOMMatrix([a, b, -b, a, x, y]));
    }
    return made;
  }

  yards(side) {
    const made = new Path2D();
    for (const [, where, left, top, width, height, lists] of this.scene.parts) {
      if (where !== side) continue;
      if (lists.length) made.addPath(this.polylines(lists));
      else made.rect(left, top, width, height);
    }
    return made;
  }

  pixel(x, y) {
    return [(x - this.x) * this.scale, (y - this.y) * this.scale];
  }

  on(name) {
    return !this.off.has(name);
  }

  colour(name) {
    this.style = this.style || getComputedStyle(this.box);
    return this.style.getPropertyValue(name).trim();
  }

  severity(name) {
    return this.colour({ error: "--red", warning: "--amber" }[name] || "--blue");
  }

  // --- what people do

  listen() {
    const act = { in: () => this.zoom(1.5), out: () => this.zoom(1 / 1.5), all: () => this.all() };
    for (const button of this.box.querySelectorAll("[data-view]")) {
      button.addEventListener("click", act[button.dataset.view]);
    }
    for (const input of this.box.querySelectorAll(".view-layers input")) {
      const change = () => {
        this.off[input.checked ? "delete" : "add"](input.value);
        if (this.scene) this.soon();
      };
      input.addEventListener("change", change);
      change();
    }
    for (const button of this.box.querySelectorAll("[data-layers]")) {
      button.addEventListener("click", () => {
        for (const input of this.box.querySelectorAll(".view-layers input[value^=layer]")) {
          if (input.checked === (button.dataset.layers === "none")) input.click();
        }
      });
    }
    this.box.querySelector(".view-find").addEventListener("change", (event) => this.find(event.target.value));
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      this.stage.addEventListener(kind, (event) => this.pointer(event));
    }
    this.fingers = new Map();
    addEventListener("hashchange", () => this.followHash());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const far = 60;
    const act = {
      "+": () => this.zoom(1.5), "=": () => this.zoom(1.5), "-": () => this.zoom(1 / 1.5), 0: () => this.all(),
      ArrowLeft: () => this.pan(far, 0), ArrowRight: () => this.pan(-far, 0),
      ArrowUp: () => this.pan(0, far), ArrowDown: () => this.pan(0, -far),
      Escape: () => this.choose(null),
    }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
    event.stopPropagation();
  }

  wheel(event) {
    if (document.activeElement !== this.stage && !event.ctrlKey) {
      this.say("Click the board, then the wheel zooms.");
      return;
    }
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.002)), event.offsetX, event.offsetY);
  }

  pointer(event) {
    const at = { x: event.offsetX, y: event.offsetY };
    if (event.type === "pointerdown") {
      this.stage.setPointerCapture(event.pointerId);
      this.fingers.set(event.pointerId, at);
      this.press = { ...at, still: this.fingers.size === 1 };
    } else if (event.type === "pointermove") {
      if (!this.fingers.has(event.pointerId)) return this.point(at);
      this.drag(event.pointerId, at);
    } else {
      const click = event.type === "pointerup" && this.press && this.press.still;
      this.fingers.delete(event.pointerId);
      if (click) this.click(at);
    }
  }

  drag(id, at) {
    const was = this.fingers.get(id), other = [...this.fingers].find(([one]) => one !== id);
    if (Math.hypot(at.x - this.press.x, at.y - this.press.y) > 4) this.press.still = false;
    this.fingers.set(id, at);
    if (this.press.still) return;
    if (!other) return this.pan(at.x - was.x, at.y - was.y);
    const mate = other[1], apart = (one) => Math.max(Math.hypot(one.x - mate.x, one.y - mate.y), 1);
    this.pan((at.x - was.x) / 2, (at.y - was.y) / 2);
    this.zoom(apart(at) / apart(was), (at.x + mate.x) / 2, (at.y + mate.y) / 2);
  }

  click(at) {
    const pin = this.pins.findLast((one) => Math.hypot(one.x - at.x, one.y - at.y) < 13);
    if (!pin) return;
    if (location.hash === `#${pin.place.id}`) this.choose(pin.place, true);
    else location.hash = pin.place.id;
  }

  point(at) {
    const x = this.x + at.x / this.scale, y = this.y + at.y / this.scale;
    const inside = ([, side, left, top, width, height]) =>
      this.on(`side-${side}`) && x >= left && x <= left + width && y >= top && y <= top + height;
    const found = this.scene.parts.filter(inside).sort((a, b) => a[4] * a[5] - b[4] * b[5])[0];
    const part = found ? `${found[0]} (${found[1] ? "back" : "front"}), ` : "";
    this.say(`${part}x ${(x / 100).toFixed(2)} mm, y ${(y / 100).toFixed(2)} mm`);
  }

  find(name) {
    const wanted = name.trim().toUpperCase();
    const part = wanted && this.scene.parts.find((one) => one[0].toUpperCase() === wanted);
    if (wanted) this.say(part ? `${part[0]}, ${part[1] ? "back" : "front"}` : `There is no part ${name.trim()}.`);
    if (part) this.lookAt(part.slice(2, 6));
  }

  followHash() {
    if (!this.box.isConnected) return;
    const place = [...this.scene.places, ...this.scene.links].find((one) => `#${one.id}` === decodeURIComponent(location.hash));
    if (place) this.choose(place, true);
  }

  choose(place, look = false) {
    this.chosen = place;
    for (const row of this.box.querySelectorAll(".view-places li")) {
      row.classList.toggle("here", Boolean(place) && row.id === place.id);
    }
    if (!place) return this.soon();
    this.stage.scrollIntoView({ block: "nearest" });
    if (look) this.lookAt(place.box);
    this.took = 0;
    this.soon();
  }

  say(text) {
    this.status.textContent = text;
  }
}

function* points(list) {
  let x = 0, y = 0;
  for (let k = 0; k < list.length; k += 2) yield [(x += list[k]), (y += list[k + 1])];
}
