"use strict";
// Python with Stackwright, off the page's thread.

importScripts("pyodide/pyodide.js");

const FOLDER = "/board";
const tell = (doing) => self.postMessage({ doing });

async function load() {
  tell("Loading Python, some 20 MB the first time");
  const python = await loadPyodide({ indexURL: "pyodide/" });
  const packed = fetch("stackwright.zip");
  await python.loadPackage(@packages@, { messageCallback: () => {} });
  tell("Loading Stackwright");
  const answer = await packed;
  if (!answer.ok) throw new Error(`stackwright.zip: ${answer.status}`);
  python.unpackArchive(await answer.arrayBuffer(), "zip", { extractDir: "/stackwright" });
  python.runPython(`
import os, sys
sys.path.insert(0, "/stackwright")
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
from stackwright.browser.short_indices import take_long_indices
take_long_indices()
from stackwright.browser.dropped import check_dropped
`);
  self.postMessage({ ready: true });
  return python;
}

const loaded = load();
loaded.catch((error) => self.postMessage({ failed: `Python cannot be loaded: ${error.message}` }));

self.onmessage = async ({ data: { files, profile } }) => {
  const python = await loaded;
  const begin = performance.now();
  if (files.some(([name]) => name === "stackwright.toml")) await python.loadPackage("scipy", { messageCallback: () => {} }); // rails
  python.runPython(`import shutil; shutil.rmtree("${FOLDER}", ignore_errors=True); os.makedirs("${FOLDER}")`);
  for (const [name, bytes] of files) python.FS.writeFile(`${FOLDER}/${name}`, new Uint8Array(bytes));
  let answer;
  try {
    const check = python.globals.get("check_dropped");
    const made = check(FOLDER, profile, tell);
    answer = made.toJs({ dict_converter: Object.fromEntries });
    made.destroy();
    check.destroy();
  } catch (error) {
    answer = { error: `Python stopped: ${String(error.message).trim().split("\n").pop()}` }; // out of memory, say
  }
  self.postMessage({ ...answer, seconds: (performance.now() - begin) / 1000 });
};
