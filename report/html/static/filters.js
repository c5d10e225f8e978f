"use strict";
/**
 * Keeps the form of filters, the page's address and what is shown the same. Rows and their values come from
 * `#report-data`. An empty value, of a filter or of a row, means any. Without the form everything is shown.
 *
 * Elements say which rows they belong to (ids with a space between):
 * - `data-row="row1"`: shown while the row is.
 * - `data-rows="row1 row2"`: what speaks of these rows. `data-when` says when it is shown: while `any` of them is
 *   (the default), while `all` are, while `some` but not all are, or while `none` is.
 * - `data-when="unfiltered"` or `"filtered"`, without `data-rows`: shown only without, or only with, a filter.
 * - `data-group`: shown while anything in it is that has one of the first two.
 * - `data-count="row1:5 row2:3"`: its text is a number of things, here 8; of them "3 of 8" belong to rows that are shown.
 * What is shown only with a filter is `hidden` in the page, for readers without scripts.
 */
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const form = document.querySelector("form.filters");
  const controls = form ? [...form.querySelectorAll("select, input[type=checkbox]")] : [];
  const names = [...new Set(controls.map(({ name }) => name))];
  const rows = new Map(Object.entries(data.rows));

  const chosen = (name) => new FormData(form).getAll(name).filter((value) => value !== "");

  let wanted = {};
  /** A row has one value, several, or an empty one, which stands for any. */
  const has = (row, name, values) => row[name] === "" || [row[name]].flat().some((value) => values.includes(value));
  const isShown = (id) => {
    const row = rows.get(id);
    return row !== undefined && Object.entries(wanted).every(([name, values]) => has(row, name, values));
  };

  function readAddress() {
    const asked = new URLSearchParams(location.search);
    for (const control of controls) {
      const values = asked.getAll(control.name);
      if (control.type === "checkbox") control.checked = values.includes(control.value);
      else for (const option of control.options) if (values.includes(option.value)) option.selected = true;
    }
  }

  function writeAddress() {
    const address = new URL(location.href);
    for (const name of names) {
      address.searchParams.delete(name);
      for (const value of chosen(name)) address.searchParams.append(name, value);
    }
    try {
      history.replaceState(null, "", address);
    } catch {
      // Some browsers keep the address of a page from a disk as it is.
    }
  }

  const isSet = (control) => (control.type === "checkbox" ? control.checked : control.selectedIndex > 0);

  /** Whether the reader left rows out; of several runtimes one is always chosen, which is no filter. */
  const isFiltered = () => {
    const asked = Object.keys(wanted).filter((name) => controls.some((each) => each.name === name && isSet(each)));
    return [...rows.values()].some((row) => asked.some((name) => !has(row, name, wanted[name])));
  };

  const when = {
    any: (ids) => ids.some(isShown),
    all: (ids) => ids.every(isShown),
    some: (ids) => ids.some(isShown) && !ids.every(isShown),
    none: (ids) => !ids.some(isShown),
    filtered: isFiltered,
    unfiltered: () => !isFiltered(),
  };

  function countText(counts) {
    let [shown, total] = [0, 0];
    for (const [, id, number] of counts.matchAll(/(\S+):(\d+)/g)) {
      total += Number(number);
      if (isShown(id)) shown += Number(number);
    }
    return shown === total ? `${total}` : `${shown} of ${total}`;
  }

  function apply() {
    const active = names.map((name) => [name, chosen(name)]).filter(([, values]) => values.length > 0);
    wanted = Object.fromEntries(active);
    for (const element of document.querySelectorAll("[data-row]")) element.hidden = !isShown(element.dataset.row);
    for (const element of document.querySelectorAll("[data-rows], [data-when]")) {
      element.hidden = !when[element.dataset.when ?? "any"](element.dataset.rows?.split(" "));
    }
    for (const group of document.querySelectorAll("[data-group]")) {
      const parts = [...group.querySelectorAll("[data-row], tr[data-rows], [data-rows]:not([data-when])")];
      group.hidden = parts.length > 0 && parts.every((part) => part.hidden);
    }
    for (const element of document.querySelectorAll("[data-count]")) {
      element.textContent = countText(element.dataset.count);
    }
    if (form) {
      const shown = [...rows.keys()].filter(isShown).length;
      form.querySelector("output").textContent = `${shown} of ${rows.size} ${form.dataset.rowName}`;
      form.querySelector("[data-reset]").hidden = !controls.some(isSet);
      document.getElementById("nothing-shown").hidden = shown > 0;
    }
    document.dispatchEvent(new CustomEvent("filterchange"));
  }

  function changed() {
    writeAddress();
    apply();
  }

  Object.assign(window.benchPage, { data, isShown, isFiltered });
  if (form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", changed);
    form.querySelector("[data-reset]").addEventListener("click", () => {
      form.reset();
      changed();
      controls[0].focus();
    });
    readAddress();
  }
  apply();
})();
