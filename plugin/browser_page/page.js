"use strict";
// Takes the dropped files, hands them to the worker, and shows its report. Nothing is sent anywhere.

const part = (id) => document.getElementById(id);
const worker = new Worker("worker.js");
let waiting = null; // files that were dropped while Python was loading
let ready = false;
let busy = true;
let links = [];

function say(text, { bad = false, working = false } = {}) {
  part("said").textContent = text;
  part("said").classList.toggle("bad", bad);
  part("busy").hidden = !working;
  busy = working;
}

function link(text, type) {
  const url = URL.createObjectURL(new Blob([text], { type }));
  links.push(url);
  return url;
}

function show({ page, json, name, seconds }) {
  links.forEach((url) => URL.revokeObjectURL(url));
  links = [];
  const report = link(page, "text/html;charset=utf-8");
  part("report").src = report;
  part("report").hidden = false;
  for (const [id, url, ending] of [["save-page", report, "html"], ["save-json", link(json, "application/json"), "json"]]) {
    part(id).href = url;
    part(id).download = `${name}-stackwright.${ending}`;
  }
  part("save").hidden = false;
  say(`${name}: checked in ${seconds.toFixed(1)} s on this computer`);
}

async function take(files) {
  if (!files.length || (ready && busy)) return;
  if (!ready) {
    waiting = files;
    return;
  }
  part("save").hidden = true;
  part("report").hidden = true;
  say("reading the files", { working: true });
  try {
    const read = await Promise.all([...files].map(async (file) => [file.name, await file.arrayBuffer()]));
    worker.postMessage({ files: read, profile: part("profile").value }, read.map(([, bytes]) => bytes));
  } catch (error) {
    say(`the files cannot be read: ${error.message}`, { bad: true });
  }
}

worker.onmessage = ({ data }) => {
  if (data.doing) say(data.doing, { working: true });
  else if (data.failed) say(data.failed, { bad: true });
  else if (data.error) say(data.error, { bad: true });
  else if (data.page) show(data);
  else if (data.ready) {
    ready = true;
    say("Ready.");
    if (waiting) take(waiting);
    waiting = null;
  }
};
worker.onerror = (event) => say(`Python cannot be loaded: ${event.message}`, { bad: true });

part("files").addEventListener("change", (event) => {
  take([...event.target.files]);
  event.target.value = ""; // the same file again is a change, too
});
for (const kind of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(kind, (event) => {
    event.preventDefault();
    part("drop").classList.toggle("over", kind === "dragover");
    if (kind === "drop") take([...event.dataTransfer.files]);
  });
}
