// Python in the browser, and in it checker.py as it is.
import { loadPyodide } from "./pyodide/pyodide.mjs";

async function loaded() {
  const python = await loadPyodide({ indexURL: new URL("pyodide/", self.location.href).href });
  const source = await (await fetch(new URL("checker.py", self.location.href))).text();
  python.FS.mkdirTree("/checker");
  python.FS.writeFile("/checker/checker.py", source);
  python.runPython("import sys; sys.path.insert(0, '/checker'); import checker");
  return python;
}

const ready = loaded();

self.onmessage = async ({ data }) => {
  try {
    const python = await ready;
    python.FS.writeFile("/certificate.json", new Uint8Array(data));
    const [status, sentence] = python.runPython("checker.verdict('/certificate.json')").toJs();
    self.postMessage({ status, sentence });
  } catch (fault) {
    // Python is of no use after such a fault: the page starts another worker.
    self.postMessage({ status: 2, sentence: `not checked, because Python ended in this browser: ${fault.message}`, over: true });
  }
};
