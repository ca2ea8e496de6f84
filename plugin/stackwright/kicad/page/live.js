"use strict";
// The live page: asks the session how things stand, shows its report, and tells it what was clicked.

const POLL_MS = 1000;
const BUSY_POLL_MS = 100; // while something runs, its end is seen soon
const $ = (id) => document.getElementById(id);
let shownRun = 0; // the run whose report is on the page
let state = null;
let here = null; // id of the finding that was shown last
let wanted = null; // the newest selection that waits for its turn
let selecting = false;
let ended = false;
let isApplied = false; // the panel tells of a change that was made
let shownFix = 0; // the preview that is on the page
let seenFile = null; // the stamp of the board's file when it was looked at last
let timer = 0; // until the session is asked again
let asking = false;
let isSoon = false; // something was started
let wrote = ""; // what the page wrote since the last check

function say(text, kind = "") {
  $("said").textContent = text;
  $("said").className = kind;
}

function failed(error) {
  say(`${error.where} ${error.what}; ${error.next_step}.`, "bad");
}

async function post(action, body = {}) {
  let answer;
  try {
    answer = await fetch(action, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    end();
    return null;
  }
  const said = await answer.json();
  if (answer.ok) return said;
  failed(said.error);
  return null;
}

function end() {
  ended = true;
  // The report's own controls work on: its chips choose, its view moves.
  for (const button of document.querySelectorAll("body > :not(#report) button, button.asks-session")) button.disabled = true;
  $("progress").hidden = true;
  const again = state && !state.kicad ? "run stackwright init --serve again" : "press Stackwright's button in KiCad again";
  say(`This session has ended: ${again}. The report stays here to be read.`, "mind");
}

/* Start what takes a while, and show its progress without waiting for the next look at the session. */
async function start(action, body) {
  if (!(await post(action, body))) return;
  isSoon = true;
  if (asking || ended) return;
  clearTimeout(timer);
  poll();
}

async function poll() {
  asking = true;
  isSoon = false;
  let next = null;
  try {
    const answer = await fetch("state");
    next = answer.ok ? await answer.json() : null;
  } catch {
    next = null;
  }
  if (next === null) {
    end();
    return;
  }
  await show(next);
  asking = false;
  timer = setTimeout(poll, next.phase === "idle" && !isSoon ? POLL_MS : BUSY_POLL_MS);
}

async function show(next) {
  const before = state;
  state = next;
  const busy = next.phase !== "idle";
  $("board").textContent = next.board;
  $("progress").hidden = !busy;
  $("progress").querySelector("span").textContent = busy ? `${next.phase}${next.doing ? `: ${next.doing}` : ""}` : "";
  $("cancel").hidden = !busy || next.phase === "applying";
  $("run").disabled = busy || next.gone;
  showChoices(next, before);
  $("unchoose").disabled = busy || next.gone;
  for (const [id, wish] of [["fix", next.kicad && next.judged], ["draw", next.kicad && !next.drawn], ["clear", next.drawn], ["undo", next.undoable]]) {
    $(id).hidden = !wish || next.run === 0;
    $(id).disabled = busy || next.gone;
  }
  if (next.run !== shownRun) await load(next.run);
  await showFacts(next);
  if (next.fix !== shownFix) await showFix(next.fix);
  if (next.gone && !(before && before.gone)) gone();
  else if (next.error && JSON.stringify(next.error) !== JSON.stringify(before && before.error)) failed(next.error);
  else if (next.notes.length && JSON.stringify(next.notes) !== JSON.stringify(before && before.notes)) {
    say(next.notes.join(" "), "mind");
  } else if (next.written && !(before && before.written) && !busy) written();
  else if (next.stale && !(before && before.stale) && !busy) stale();
  $("large").hidden = !next.large;
  if (next.file !== seenFile && !busy) {
    const first = seenFile === null;
    seenFile = next.file;
    if (!first && next.run > 0 && !next.gone) look();
  }
}

/* What was under way when KiCad ended has said so itself, and what it means for the files. */
function gone() {
  if (!$("said").textContent.includes("has ended")) say("KiCad has ended: started again, it opens a new page by the button. This report stays to be read.", "mind");
}

function written() {
  if (state && !state.kicad) {
    say("The board's file was written or removed since this check. If it is gone, put it back; then check again (r).", "mind");
    return;
  }
  say(
    "The board's file was written since this check, and says something else than the board in KiCad that was checked. " +
      "If another program wrote it: in KiCad, File > Revert takes it, saving replaces it. Then check again (r).",
    "mind",
  );
}

function stale() {
  say(`${wrote}The board or its settings were changed since this check: check again (r).`, "mind");
}

async function offerProfiles(chosen) {
  const answer = await fetch("profiles");
  for (const one of answer.ok ? await answer.json() : []) {
    const option = document.createElement("option");
    option.value = one.name;
    option.textContent = `${one.name}: ${one.title}`;
    $("profile").append(option);
  }
  $("profile").value = chosen || "";
}

/* A workload that was chosen here overrules what is stated elsewhere: both are named, with the way back. */
function showChosen(next) {
  const stated = next.stated && next.stated.profile;
  const elsewhere = stated ? `${next.stated.source} says ${stated}.` : next.stated ? "No settings say so: other checks do not use it." : "";
  $("chosen").hidden = !next.profile || !next.kicad;
  $("chosen").querySelector("span").textContent = `Checked for ${next.profile}, chosen on this page. ${elsewhere}`;
  $("unchoose").textContent = stated ? `Check for ${stated}` : "Check for no workload";
}

function showChoices(next, before) {
  showChosen(next);
  if (before === null) {
    offerProfiles(next.profile).catch(end);
    $("ci").textContent = next.ci;
    if (next.offer) $("offer").hidden = false;
  } else if (before.profile !== next.profile) $("profile").value = next.profile || "";
  const known = next.stated ? next.stated.profile : next.judged;
  const stated = known ? `as the settings or the board say: ${known}` : "no workload";
  $("profile").options[0].textContent = next.profile && !next.stated ? "as the settings or the board say" : stated;
  $("command").textContent = next.command;
  $("settings").textContent = next.settings;
  $("settings-row").hidden = !next.settings || next.has_settings;
  $("same").setAttribute("aria-expanded", String(!$("offer").hidden));
}

// --- the report, and one's place in it

async function load(run) {
  const answer = await fetch("report");
  if (!answer.ok) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const one of page.querySelectorAll("script:not([type])")) one.remove(); // this page has them already
  const place = remembered();
  shownRun = run;
  wrote = "";
  if ($("said").className === "bad") say(""); // what failed before this check
  if (location.hash.includes("=")) history.replaceState(null, "", "#"); // chips of the former report: kept by their words
  $("report").replaceChildren(...[...page.body.children].map((child) => document.importNode(child, true)));
  offerForm($("report"));
  showReport($("report"));
  showBoardViews($("report"));
  document.title = page.title;
  for (const one of [...findings(), ...links()]) one.tabIndex = 0;
  $("next").hidden = findings().length === 0;
  restore(place);
}

function remembered() {
  const keys = remembered.keys || {};
  const boxes = [...document.querySelectorAll("#report fieldset.filter input")];
  const current = here && $(here);
  const open = [...document.querySelectorAll("#report details")].map((one) => [keyOf(one), one.open]);
  return {
    filters: new Map(boxes.map((box) => [box.className, box.checked])),
    chips: [...document.querySelectorAll("#report .chip[aria-pressed=true]")].map(chipName),
    open: new Map(open),
    key: here ? keys[here] : null,
    top: current ? current.getBoundingClientRect().top : null,
    scroll: window.scrollY,
  };
}

/* A chip by its group and its words, without the count: its token may mean another value in the next report. */
function chipName(chip) {
  return `${chip.dataset.group}: ${chip.firstChild.textContent.trim()}`;
}

function keyOf(details) {
  const finding = details.closest(".finding");
  return finding ? (remembered.keys || {})[finding.id] : details.querySelector("summary").textContent;
}

function restore(place) {
  remembered.keys = state.keys;
  for (const box of document.querySelectorAll("#report fieldset.filter input")) {
    box.checked = place.filters.get(box.className) ?? box.checked;
  }
  for (const chip of document.querySelectorAll("#report .chip")) if (place.chips.includes(chipName(chip))) chip.click();
  for (const one of document.querySelectorAll("#report details")) {
    if (place.open.has(keyOf(one))) one.open = place.open.get(keyOf(one));
  }
  const again = place.key && Object.keys(state.keys).find((id) => state.keys[id] === place.key);
  here = again || null;
  if (again && $(again)) {
    mark($(again));
    if (place.top !== null) window.scrollBy(0, $(again).getBoundingClientRect().top - place.top);
  } else {
    window.scrollTo(0, place.scroll);
  }
}

// --- showing findings and links in KiCad

const SHOWN = ".finding, .delays tbody tr";

function findings() {
  return [...document.querySelectorAll("#report .finding:not([hidden])")];
}

/* The rows of the delay table: they select the tracks of their nets. */
function links() {
  return [...document.querySelectorAll("#report .delays tbody tr")];
}

function mark(finding) {
  for (const one of [...findings(), ...links()]) one.classList.toggle("here", one === finding);
}

function choose(finding, member = null) {
  here = finding.id;
  mark(finding);
  wanted = { finding: finding.id, member };
  if (!selecting && state.kicad) select();
}

async function select() {
  selecting = true;
  while (wanted && !ended) {
    const asked = wanted;
    wanted = null;
    say("asking KiCad ...");
    const answer = await post("select", asked);
    if (answer) tell(answer);
  }
  selecting = false;
}

function tell(answer) {
  const layer = answer.layer ? ` on ${answer.layer}` : "";
  if (answer.items === 0 && answer.layer) say(`This is about ${answer.layer}: there is no item to select.`);
  else if (answer.items === 0) say("This finding names no item of the board: there is nothing to select.");
  else if (answer.found === 0) say("None of its items is on the board any more: check again (r).", "mind");
  else if (answer.found < answer.items) {
    say(`${answer.found} of ${answer.items} items selected in KiCad; the others are gone: check again (r).`, "mind");
  } else if (answer.stale) stale();
  else if (answer.more) say(`The first ${answer.found} of ${answer.found + answer.more} items selected in KiCad${layer}.`);
  else say(`${answer.found} ${answer.found === 1 ? "item" : "items"} selected in KiCad${layer}.`);
}

function walk(step) {
  const all = findings();
  if (!all.length) return;
  const at = all.findIndex((one) => one.id === here);
  const next = all[at < 0 ? (step > 0 ? 0 : all.length - 1) : Math.min(Math.max(at + step, 0), all.length - 1)];
  const fold = next.closest("details");
  if (fold) fold.open = true; // remarks are folded
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
  choose(next);
}

$("report").addEventListener("click", (event) => {
  if (event.target.closest("a, summary, input, label, pre")) return;
  const finding = event.target.closest(SHOWN);
  if (!finding || ended || String(getSelection())) return;
  const row = event.target.closest("details li");
  choose(finding, row ? [...row.parentElement.children].indexOf(row) : null);
});

/* A link to a finding was followed, e.g. from a reason of the verdict. */
addEventListener("hashchange", () => {
  const finding = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!ended && finding && finding.matches("#report .finding")) choose(finding);
});

document.addEventListener("keydown", (event) => {
  if (ended || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea")) return;
  if (event.key === "Enter" && event.target.closest("button, a, summary")) return;
  if (event.key === "j") walk(1);
  else if (event.key === "k") walk(-1);
  else if (event.key === "r") again();
  else if (event.key === "Enter" && event.target.closest(SHOWN)) choose(event.target.closest(SHOWN));
  else return;
  event.preventDefault();
});

// --- the least change

async function showFix(number) {
  shownFix = number;
  if (number === 0) {
    $("fixing").hidden = !isApplied; // what was done stays to be read
    return;
  }
  const fix = await post("preview");
  if (!fix) return;
  $("fixing").hidden = Boolean(fix.unneeded);
  if (fix.unneeded) {
    say(fix.unneeded);
    return;
  }
  showApplied(false);
  $("fix-now").textContent = fix.now;
  $("fix-then").textContent = fix.then;
  list("fix-words", fix.words);
  rows("fix-rows", fix.rows);
  rows("fix-lines", fix.lines);
  list("fix-remarks", fix.remarks);
  $("fix-files").replaceChildren(...fix.files.map((file) => difference(file)));
  $("fix-later").hidden = !fix.later.what;
  $("fix-later-what").textContent = fix.later.what;
  list("fix-classes", fix.later.classes || []);
  $("fix-later").querySelector("code").textContent = fix.later.command;
  $("fix-consent").hidden = !fix.unsafe;
  $("consent").checked = false;
  allowApplying();
  $("fixing").scrollIntoView();
}

function list(id, texts) {
  $(id).replaceChildren(...texts.map((text) => element("li", text)));
}

/* A table without a row is not shown; the first cell of a row names it. */
function rows(id, found) {
  $(id).hidden = found.length === 0;
  const made = found.map((cells) => {
    const row = document.createElement("tr");
    row.append(...cells.map((text, at) => element(at ? "td" : "th", text)));
    row.firstChild.scope = "row";
    return row;
  });
  $(id).tBodies[0].replaceChildren(...made);
}

function element(name, text, kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = kind;
  return made;
}

/* Folded: the words above say what changes, the lines of a file are for who wants them. */
function difference(file) {
  const folded = document.createElement("details");
  const block = document.createElement("pre");
  for (const line of file.diff.split("\n")) {
    const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : "";
    block.append(element("span", `${line}\n`, kind));
  }
  folded.append(element("summary", `Lines that change in ${file.name}`), block);
  return folded;
}

/* Before, the panel says what would change and asks; afterwards it says what has changed. */
function showApplied(done) {
  isApplied = done;
  $("fixing-title").textContent = done ? "Change applied" : "Least change that would fit";
  for (const id of ["apply", "fix-warning"]) $(id).hidden = done;
  if (done) $("fix-consent").hidden = true;
}

$("fix").addEventListener("click", () => start("fix"));
$("no-fix").addEventListener("click", () => {
  $("fixing").hidden = true;
  isApplied = false;
});
/* What changes the build waits for the box beside the button. */
function allowApplying() {
  $("apply").disabled = ended || !($("fix-consent").hidden || $("consent").checked);
}

$("consent").addEventListener("change", allowApplying);
$("apply").addEventListener("click", async () => {
  $("apply").disabled = true;
  const done = await post("apply", { consent: $("consent").checked });
  allowApplying();
  if (!done) return;
  showApplied(true);
  const tried = done.tried ? "" : " There was no kicad-cli to try the new file with.";
  const kept = done.backups.length ? ` The former content is in ${done.backups.join(", ")}.` : "";
  say(`Wrote ${done.files.join(", ")}; KiCad shows the new stackup.${kept}${tried}`);
});

$("undo").addEventListener("click", async () => {
  $("undo").disabled = true;
  const done = await post("undo");
  $("undo").disabled = ended;
  if (!done) return;
  $("fixing").hidden = true;
  isApplied = false;
  say(`${done.files.join(", ")} as before the change; KiCad shows the former stackup.`);
});

// --- drawing

$("draw").addEventListener("click", async () => {
  const done = await post("draw");
  if (done && done.drawn === 0) say("No error or warning has a place on the board: there is nothing to draw.");
  else if (done) say(`${done.drawn} ${done.drawn === 1 ? "finding" : "findings"} drawn on ${done.layer}. One undo in KiCad, or the button above, removes them.`);
});
$("clear").addEventListener("click", async () => {
  if (await post("clear")) say("The drawing is gone.");
});

// --- buttons

/* Start a check; what was said of the one before is said again where it comes again. */
async function anew(action, body) {
  say("");
  if (state) state = { ...state, error: null, notes: [], written: false };
  await start(action, body);
}

function again() {
  return anew("run");
}

$("run").addEventListener("click", again);
$("cancel").addEventListener("click", () => post("cancel"));
$("next").addEventListener("click", () => walk(1));
$("same").addEventListener("click", () => {
  $("offer").hidden = !$("offer").hidden;
  $("same").setAttribute("aria-expanded", String(!$("offer").hidden));
});
$("just-look").addEventListener("click", async () => {
  await start("choose");
  $("offer").hidden = true;
});
$("offer-ci").addEventListener("click", () => {
  $("ci-row").hidden = !$("ci-row").hidden;
});
$("unchoose").addEventListener("click", () => anew("choose", { profile: "" }));
$("choose").addEventListener("click", () => anew("choose", { profile: $("profile").value }));
$("write-settings").addEventListener("click", async () => {
  const answer = await post("write-settings");
  if (!answer) return;
  wrote = `Wrote ${answer.path}. `;
  say(wrote);
});

async function look() {
  const answer = await post("look");
  if (answer && answer.written) written();
  else if (answer && answer.stale) stale();
}

window.addEventListener("focus", () => {
  if (ended || state === null || state.phase !== "idle" || state.gone) return;
  look();
});
window.addEventListener("pagehide", () => navigator.sendBeacon("bye", new Blob(["{}"], { type: "application/json" })));

// What sticks below the bar, and where a link scrolls to, follow from its height.
new ResizeObserver(() => {
  document.documentElement.style.setProperty("--bar", `${$("bar").offsetHeight}px`);
}).observe($("bar"));

poll();
