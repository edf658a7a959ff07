// search.js -- a box that finds headings. build.sh puts the list `places` before it: [link, heading, title of its page].
const form = document.createElement("form"), box = document.createElement("input"), list = document.createElement("ul");
form.id = "search";
box.type = "search";
box.placeholder = box.ariaLabel = "Search the headings";
form.append(box, list);
document.querySelector("nav").append(form);

function entry([link, heading, page]) {
    const item = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small");
    a.href = link;
    a.textContent = heading + " ";
    small.textContent = page === heading ? "" : page;
    a.append(small);
    item.append(a);
    return item;
}

// Every word must occur; headings that begin with the first one come first.
box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = words.length ? places.filter(([, heading, page]) => words.every(w => `${heading} ${page}`.toLowerCase().includes(w))) : [];
    const rank = ([, heading]) => heading.toLowerCase().startsWith(words[0]) ? 0 : 1;
    list.replaceChildren(...found.sort((a, b) => rank(a) - rank(b)).slice(0, 12).map(entry));
});
form.addEventListener("submit", event => {
    event.preventDefault();
    list.querySelector("a")?.click();
});
