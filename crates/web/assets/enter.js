"use strict";
(async () => {
  const words = document.getElementById("words");
  const token = new URLSearchParams(location.hash.slice(1)).get("t");
  if (!token) return;
  const answer = await fetch("/session", { headers: { Authorization: `Bearer ${token}` } });
  if (answer.ok) {
    const isEntrance = location.pathname === "/enter";
    location.replace(isEntrance ? "/" : location.pathname + location.search);
  } else {
    words.textContent = "The token is another one: the server was started again. Open the address that it printed then.";
  }
})();
