// The parts of the page that answer: the map of bytes, the tree of columns, sorting and searching, pages, zones.
// Text of the file is only ever set as text.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const SVG = "http://www.w3.org/2000/svg";
  const columns = (data.columns || []).map((c, at) => ({
    at, name: c[0], type: c[1], bytes: c[2], nulls: c[3], distinct: c[4], ratio: c[5], perRow: c[6], pages: c[7] || [], zones: c[8],
  }));

  const make = (parent, name, attributes, text) => {
    const element = document.createElement(name);
    for (const key in attributes || {}) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    if (parent) parent.append(element);
    return element;
  };
  const draw = (parent, name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    parent.append(element);
    return element;
  };
  const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
  const size = (n) => {
    if (n < 1000) return n + " B";
    let unit = "B";
    for (const next of ["kB", "MB", "GB", "TB", "PB"]) {
      if (n < 999.95) break;
      n /= 1000;
      unit = next;
    }
    return n.toFixed(1) + " " + unit;
  };
  const share = (part, whole) => (whole ? ((100 * part) / whole).toFixed(1) + " %" : "–");

  // A row of segments: arrows go from one to the next, Enter and clicks choose one.
  const strip = (host, segments, choose, marks) => {
    host.replaceChildren();
    const all = segments.reduce((sum, s) => sum + s.bytes, 0) || 1;
    const svg = draw(host, "svg", { viewBox: "0 0 1000 48", preserveAspectRatio: "none", role: "group" });
    svg.setAttribute("aria-label", host.dataset.label || "parts, in order");
    // Lines between very narrow parts would be all that is seen of them.
    if (segments.length * 4 > host.clientWidth) svg.classList.add("dense");
    const rects = [];
    let x = 0;
    segments.forEach((segment, at) => {
      const width = (1000 * segment.bytes) / all;
      const acts = choose && (!("open" in segment) || segment.open);
      const rect = draw(svg, "rect", {
        x: x.toFixed(2), width: Math.max(width, 0.4).toFixed(2), height: 48, class: "k" + segment.kind,
        tabindex: at ? -1 : 0, role: acts ? "button" : "img",
      });
      const label = segment.label + ", " + size(segment.bytes) + ", " + share(segment.bytes, all);
      rect.setAttribute("aria-label", label);
      draw(rect, "title", {}).textContent = label;
      rect.addEventListener("focus", () => {
        rects.forEach((r) => r.setAttribute("tabindex", r === rect ? 0 : -1));
        if (host.tell) host.tell(segment, all);
      });
      rect.addEventListener("pointerenter", () => host.tell && host.tell(segment, all));
      rect.addEventListener("click", () => acts && choose(segment));
      rect.addEventListener("keydown", (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1, Home: -at, End: rects.length - 1 - at }[event.key];
        if (step !== undefined) {
          event.preventDefault();
          const next = rects[Math.min(Math.max(at + step, 0), rects.length - 1)];
          next.focus();
        } else if (acts && (event.key === "Enter" || event.key === " ")) {
          event.preventDefault();
          choose(segment);
        }
      });
      rects.push(rect);
      x += width;
    });
    // What is wide enough has its name below it.
    if (host.dataset.names !== undefined) {
      const names = make(host, "div", { class: "names", "aria-hidden": "true" });
      let left = 0;
      segments.forEach((segment) => {
        const width = (100 * segment.bytes) / all;
        const text = segment.name || segment.label;
        if ((width * host.clientWidth) / 100 > Math.min(60, 8 * text.length + 6)) {
          const name = make(names, "span", {}, text);
          Object.assign(name.style, { left: left + "%", width: width + "%" });
        }
        left += width;
      });
    }
    (marks || []).forEach((mark) => {
      const at = (1000 * mark.at) / all;
      const path = draw(svg, "path", { d: `M${at.toFixed(2)} 6l5 -12h-10z`, class: "mark" });
      draw(path, "title", {}).textContent = mark.label;
    });
    return rects;
  };

  // Pages by their numbers; where there are very many, several stand together.
  const pageSegments = (column) => {
    let first = 0;
    return column.pages.map((page) => {
      const many = page[4] > 1;
      const name = many ? "pages " + count(first) + " to " + count(first + page[4] - 1) : "page " + count(first);
      first += page[4];
      const rows = many ? count(page[0]) + " rows, the first " + data.forms[page[2]] : count(page[0]) + " rows, " + data.forms[page[2]];
      return { bytes: page[1], kind: page[2] % 8, page, name, label: name + (page[6] === undefined ? "" : " in fragment " + page[6]) + ", " + rows };
    });
  };
  const bufferSegments = (page) =>
    page[5].map((buffer) => ({
      bytes: buffer[2], kind: buffer[3], name: data.holds[buffer[0]],
      label: data.holds[buffer[0]] + (page[4] > 1 ? " of " + count(page[4]) + " pages" : " at byte " + count(buffer[1])),
    }));
  const openPage = (segment) => segment.page[5].length ? {
    name: segment.name, segments: bufferSegments(segment.page),
    hint: segment.page[4] > 1 ? "The buffers of these pages together: there are too many pages to list each." : "The buffers of the page.",
  } : undefined;

  // The pages of a column; of a table, those in a fragment.
  const openColumn = (column, fragment) => {
    const pages = pageSegments(column).filter((s) => fragment === undefined || s.page[6] === fragment);
    return pages.length ? {
      name: column.name, hint: "The pages of the column, in the order of its rows.",
      segments: pages.map((s) => ({ ...s, open: s.page[5].length ? () => openPage(s) : undefined })),
    } : undefined;
  };

  // The parts of a file, in their order. Small ones stand together, and open.
  const partSegments = (parts, fragment) =>
    parts.map((part) => {
      const at = " at byte " + count(part[3]);
      if (part[4] > 1) {
        const name = count(part[4]) + " parts", inside = part[5] || [];
        return {
          bytes: part[0], kind: part[2], name, label: name + at + (inside.length ? "" : ", too many to list"),
          open: inside.length ? () => ({ name: name + at, segments: partSegments(inside, fragment), hint: "Small neighbours, in the order of the file." }) : undefined,
        };
      }
      const column = part[1] >= 0 ? columns[part[1]] : undefined;
      const name = column ? column.name : data.kinds[part[2]];
      const next = column && openColumn(column, fragment);
      return { bytes: part[0], kind: part[2], open: next ? () => next : undefined, name, label: (column ? "column " : "") + name + at };
    });

  // A table: fragments, or groups of them, their files, the parts of those.
  const fileSegments = (files, fragment) =>
    files.map((file) => ({
      bytes: file[1], kind: file[2], label: file[0],
      open: file[3].length ? () => ({
        name: file[0], segments: partSegments(file[3], fragment), hint: "The parts of the file, in their order. Columns have pages, pages have buffers.",
      }) : undefined,
    }));
  const fragmentSegment = (fragment, at) => ({
    bytes: fragment[3].reduce((sum, file) => sum + file[1], 0), kind: at % 2, name: String(fragment[0]),
    label: "fragment " + fragment[0] + ", " + count(fragment[1]) + " rows" + (fragment[2] ? ", " + count(fragment[2]) + " deleted" : ""),
    open: () => ({ name: "fragment " + fragment[0], segments: fileSegments(fragment[3], fragment[0]), hint: "The files of the fragment." }),
  });
  const groupSegments = () => {
    let first = 0;
    return data.groups.map((group, at) => {
      const inside = data.fragments.slice(first, first + group[2]);
      first += group[2];
      if (group[2] === 1 && inside.length) return fragmentSegment(inside[0], at);
      const name = "fragments " + group[0] + " to " + group[1];
      return {
        bytes: group[5], kind: at % 2, name: group[0] + "–" + group[1],
        label: (group[2] === 1 ? "fragment " + group[0] : name) + ", " + count(group[3]) + " rows" + (group[4] ? ", " + count(group[4]) + " deleted" : "") +
          (inside.length === group[2] ? "" : ", too many to list"),
        open: inside.length === group[2] ? () => ({ name, segments: inside.map(fragmentSegment), hint: "Choose a fragment to see its files." }) : undefined,
      };
    });
  };

  // The map of all bytes: what is chosen is looked into, as deep as it goes.
  const map = document.getElementById("map");
  if (map) {
    const host = map.querySelector(".strip");
    const about = map.querySelector(".about");
    const crumbs = map.querySelector(".crumbs");
    host.tell = (segment, all) => {
      about.textContent = segment.label + ": " + size(segment.bytes) + " (" + share(segment.bytes, all) + " of what is shown)";
    };
    const show = (path, focus) => {
      crumbs.replaceChildren();
      path.forEach((step, at) => {
        const button = make(crumbs, "button", { type: "button" }, step.name);
        if (at === path.length - 1) button.setAttribute("aria-current", "true");
        button.addEventListener("click", () => show(path.slice(0, at + 1), true));
      });
      const here = path[path.length - 1];
      about.textContent = here.hint;
      const rects = strip(host, here.segments, (segment) => {
        const next = segment.open && segment.open();
        if (next) show([...path, next], true);
      }, path.length === 1 ? data.marks : []);
      if (focus && rects.length) rects[0].focus();
      host.onkeydown = (event) => {
        if (event.key === "Escape" && path.length > 1) show(path.slice(0, -1), true);
      };
    };
    const segments = data.groups ? groupSegments() : partSegments(data.strip);
    const hint = data.groups ? "Choose a fragment to see its files, and a file to see where its columns are." : "Choose a part to look into it: columns have pages, pages have buffers.";
    show([{ name: data.name, segments, hint: segments.some((segment) => segment.open) ? hint : "" }]);
  }

  // Columns as areas: the longer side is cut, and again.
  const tree = document.getElementById("tree");
  if (tree) {
    const lay = (items, x, y, width, height, ratio) => {
      if (!items.length) return;
      if (items.length === 1) {
        const box = items[0];
        const link = make(tree, "a", { href: box.at === undefined ? "#columns" : "#c" + box.at, class: box.at === undefined ? "rest" : "t" + (box.order % 6) });
        // The table below has all names: nobody has to go through hundreds of areas to get there.
        if (box.order > 60) link.setAttribute("tabindex", -1);
        Object.assign(link.style, { left: x + "%", top: y + "%", width: width + "%", height: height + "%" });
        const [wide, high] = [(width * tree.clientWidth) / 100, (height * tree.clientHeight) / 100];
        link.title = box.name + ", " + size(box.bytes);
        link.setAttribute("aria-label", link.title);
        // Words that would be cut are left to the title.
        if (wide > 44 && high > 20) make(link, "b", {}, box.name);
        if (wide > 56 && high > 38) make(link, "span", {}, size(box.bytes));
        return;
      }
      const all = items.reduce((sum, i) => sum + i.bytes, 0);
      let first = items[0].bytes, at = 1;
      while (at < items.length - 1 && first + items[at].bytes / 2 < all / 2) first += items[at++].bytes;
      const part = first / all;
      const [a, b] = [items.slice(0, at), items.slice(at)];
      if (width * ratio >= height) {
        lay(a, x, y, width * part, height, ratio);
        lay(b, x + width * part, y, width * (1 - part), height, ratio);
      } else {
        lay(a, x, y, width, height * part, ratio);
        lay(b, x, y + height * part, width, height * (1 - part), ratio);
      }
    };
    const [more, moreBytes] = data.more;
    const whole = columns.reduce((sum, c) => sum + c.bytes, moreBytes);
    // Areas of some pixels; what is smaller is one.
    const boxes = columns.filter((c) => c.bytes * 4000 > whole).sort((a, b) => b.bytes - a.bytes);
    const [rest, others] = [whole - boxes.reduce((sum, c) => sum + c.bytes, 0), columns.length + more - boxes.length];
    const items = boxes.map((c, order) => ({ ...c, order }));
    if (rest > 0) items.push({ name: count(others) + (others === 1 ? " smaller column" : " smaller columns"), bytes: rest });
    const redraw = () => {
      tree.replaceChildren();
      lay(items, 0, 0, 100, 100, tree.clientWidth / Math.max(tree.clientHeight, 1));
    };
    redraw();
    addEventListener("resize", redraw);
    addEventListener("beforeprint", redraw);
  }

  // Zones as bands, the share of nulls below.
  const band = (host, zones) => {
    const n = zones.b.length;
    const svg = draw(host, "svg", { class: "band", viewBox: "0 0 1000 1000", preserveAspectRatio: "none", role: "img" });
    svg.setAttribute("aria-label", host.dataset.label || zones.o);
    let path = "";
    const nulls = [];
    zones.b.forEach((b, at) => {
      const [x, next] = [(1000 * at) / n, (1000 * (at + 1)) / n];
      if (b[0] !== null) path += `M${x.toFixed(1)} ${1000 - b[1]}H${next.toFixed(1)}V${1000 - b[0]}H${x.toFixed(1)}z`;
      if (b[2] === null) draw(svg, "rect", { class: "unknown", x: x.toFixed(1), width: (1000 / n).toFixed(1), y: 0, height: 1000 });
      if (b[2]) nulls.push({ x: x.toFixed(1), width: (1000 / n).toFixed(1), y: 1000 - 10 * b[2], height: 10 * b[2] });
    });
    draw(svg, "path", { d: path });
    nulls.forEach((share) => draw(svg, "rect", share));
  };
  document.querySelectorAll("td.zones").forEach((cell) => {
    const column = columns[+cell.dataset.c];
    if (column && column.zones) band(cell, column.zones);
  });

  // The columns: sorting, searching, what is below each.
  const table = document.getElementById("columns-table");
  if (table) {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const find = document.getElementById("find");
    const told = document.getElementById("found");
    const search = () => {
      const words = find.value.toLowerCase();
      let hits = 0;
      rows.forEach((row) => {
        const column = columns[+row.id.slice(1)];
        const hit = !words || (column.name + " " + column.type + " " + row.cells[row.cells.length - 1].textContent).toLowerCase().includes(words);
        row.hidden = !hit;
        if (row.below) row.below.hidden = !hit;
        hits += hit;
      });
      told.textContent = words ? count(hits) + " of " + count(rows.length) : "";
    };
    find.addEventListener("input", search);
    table.querySelectorAll("thead th").forEach((head) => {
      const button = head.querySelector("button");
      if (!button) return;
      button.addEventListener("click", () => {
        const key = button.dataset.key;
        const up = head.getAttribute("aria-sort") === "ascending" ? false : head.getAttribute("aria-sort") === "descending" ? true : key === "name" || key === "type";
        table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
        head.setAttribute("aria-sort", up ? "ascending" : "descending");
        const value = (row) => columns[+row.id.slice(1)][key];
        rows.sort((a, b) => {
          const [x, y] = [value(a), value(b)];
          if (x === y) return +a.id.slice(1) - +b.id.slice(1);
          if (x === null || x === undefined) return 1;
          if (y === null || y === undefined) return -1;
          return (x < y ? -1 : 1) * (up ? 1 : -1);
        });
        rows.forEach((row) => body.append(...(row.below ? [row, row.below] : [row])));
      });
    });
    const open = (row) => {
      const button = row.querySelector("button.name");
      if (row.below) {
        row.below.remove();
        row.below = undefined;
        button.setAttribute("aria-expanded", "false");
        return;
      }
      const column = columns[+row.id.slice(1)];
      const below = document.createElement("tr");
      below.className = "detail";
      const cell = make(below, "td", { colspan: row.cells.length });
      if (column.pages.length) {
        make(cell, "h3", {}, "Pages");
        const host = make(cell, "div", { class: "strip low" });
        const about = make(cell, "p", { class: "about", "aria-live": "polite" });
        const list = make(cell, "ul", {});
        host.tell = (segment) => (about.textContent = segment.label + ", " + size(segment.bytes));
        strip(host, pageSegments(column), (segment) => {
          list.replaceChildren();
          bufferSegments(segment.page).forEach((buffer) => make(list, "li", {}, buffer.label + ": " + count(buffer.bytes) + " bytes"));
        });
        about.textContent = "Choose a page to see its buffers.";
      }
      if (column.zones) {
        make(cell, "h3", {}, "Zones");
        band(make(cell, "div", { "data-label": column.zones.o }), column.zones);
      }
      if (!cell.children.length) make(cell, "p", {}, "It has no pages of its own.");
      row.after(below);
      row.below = below;
      button.setAttribute("aria-expanded", "true");
    };
    rows.forEach((row) => {
      const button = row.querySelector("button.name");
      if (button) button.addEventListener("click", () => open(row));
    });
    const hit = () => {
      rows.forEach((row) => row.classList.toggle("hit", "#" + row.id === location.hash));
      const row = rows.find((r) => "#" + r.id === location.hash);
      if (row && row.hidden) { find.value = ""; search(); }
    };
    addEventListener("hashchange", hit);
    hit();
  }

  // What is wider than the window is reached by keys, too.
  document.querySelectorAll(".scroll").forEach((part) => {
    if (part.scrollWidth <= part.clientWidth) return;
    const title = part.querySelector("caption") || part.closest("section").querySelector("h2");
    for (const [key, value] of [["tabindex", 0], ["role", "region"], ["aria-label", title.textContent]]) part.setAttribute(key, value);
  });

  // Paper cannot be opened.
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((part) => (part.open = true)));

  // The pages of the largest columns, side by side.
  document.querySelectorAll("td.pages").forEach((cell) => {
    const column = columns[+cell.dataset.c];
    if (!column || !column.pages.length) return;
    const host = make(cell, "div", { class: "strip low" });
    const about = document.getElementById("page-about");
    host.dataset.label = "pages of " + column.name;
    host.tell = (segment) => (about.textContent = column.name + ": " + segment.label + ", " + size(segment.bytes));
    strip(host, pageSegments(column), (segment) => {
      const buffers = segment.page[5].map((b) => data.holds[b[0]] + " " + size(b[2]));
      about.textContent = column.name + ": " + segment.label + ", " + size(segment.bytes) + (buffers.length ? ". Buffers: " + buffers.join(", ") : "");
    });
  });
})();
