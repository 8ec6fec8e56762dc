"use strict";
const archived = location.pathname.replace(/\/$/, "") === "/chats/archived";
const state = document.getElementById("state");
const note = document.getElementById("note");

function row(thread) {
  const item = document.createElement("li");
  const link = item.appendChild(document.createElement("a"));
  const title = link.appendChild(document.createElement("span"));
  const time = link.appendChild(document.createElement("time"));
  const when = new Date(thread.updated_at);
  link.href = "/chats/" + encodeURIComponent(thread.thread_id);
  title.className = "title";
  title.textContent = title.title = thread.title || "Untitled";
  time.dateTime = thread.updated_at;
  time.title = when.toString();
  time.textContent = when.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  return item;
}

async function show() {
  const answer = await fetch("/api/threads/search", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ archived, limit: 20, select: ["thread_id", "title", "updated_at"] }),
  });
  if (!answer.ok) throw new Error((await answer.json()).detail);
  const threads = await answer.json();
  document.getElementById("threads").replaceChildren(...threads.map(row));
  const total = answer.headers.get("X-Pagination-Total");
  note.textContent = threads.length === 0 ? "There are none yet." : `${threads.length} of ${total}`;
  state.textContent = "The service is up.";
}

if (archived) document.getElementById("newest").textContent = "Archived threads";
show().catch((error) => {
  state.textContent = "The service does not answer.";
  note.textContent = String(error.message || error);
});
