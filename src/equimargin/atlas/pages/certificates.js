// The page that checks certificates: files go to a worker one after the other, and what it says of each is shown as text.
const drop = document.getElementById("drop");
const stop = document.getElementById("stop");
const state = document.getElementById("state");
const results = document.getElementById("results");
const waiting = [];
const SERVER = "this page has to be read from a web server, such as python3 -m http.server";
let worker = null;
let current = null;

function show(name, status, sentence) {
  const item = document.createElement("li");
  item.className = status === 0 ? "accepted" : "rejected";
  item.textContent = `${name}: ${sentence}`;
  results.prepend(item);
}

function ended(status, sentence) {
  if (current) show(current.name, status, sentence);
  current = null;
  next();
}

function started() {
  const made = new Worker("worker.js", { type: "module" });
  made.onmessage = ({ data }) => {
    if (data.over) {
      made.terminate();
      worker = null;
    }
    ended(data.status, data.sentence);
  };
  made.onerror = (fault) => {
    fault.preventDefault();
    worker = null;
    ended(2, `the checker could not be run; ${SERVER}`);
  };
  return made;
}

async function next() {
  stop.disabled = current === null && waiting.length === 0;
  if (current) return;
  if (waiting.length === 0) {
    state.textContent = "Ready.";
    return;
  }
  current = waiting.shift();
  stop.disabled = false;
  state.textContent = `Checking ${current.name}`;
  try {
    worker = worker || started();
  } catch {
    ended(2, `not checked; ${SERVER}`); // browsers start no worker from a file
    return;
  }
  try {
    const bytes = await current.arrayBuffer();
    worker.postMessage(bytes, [bytes]);
  } catch (fault) {
    ended(2, `it cannot be read: ${fault.message}`);
  }
}

function take(files) {
  waiting.push(...files);
  next();
}

document.getElementById("files").addEventListener("change", (event) => {
  take(event.target.files);
  event.target.value = "";
});
drop.addEventListener("dragover", (event) => {
  event.preventDefault();
  drop.classList.add("over");
});
drop.addEventListener("dragleave", () => drop.classList.remove("over"));
drop.addEventListener("drop", (event) => {
  event.preventDefault();
  drop.classList.remove("over");
  take(event.dataTransfer.files);
});
stop.addEventListener("click", () => {
  waiting.length = 0;
  if (worker) worker.terminate();
  worker = null;
  ended(2, "stopped");
});
if (location.protocol === "file:") state.textContent = `Nothing can be checked here: ${SERVER}.`;
