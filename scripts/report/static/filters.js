"use strict";
/**
 * The form of filters, the page's address and what is shown: always the same. Rows and their values come from
 * `#report-data`. An empty value, of a filter or of a row, means any. Without the form everything is shown.
 */
(() => {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  const form = document.querySelector("form.filters");
  const controls = form ? [...form.querySelectorAll("select, input[type=checkbox]")] : [];
  const names = [...new Set(controls.map(({ name }) => name))];
  const rows = new Map(Object.entries(data.rows));

  const chosen = (name) =>
    controls
      .filter((control) => control.name === name && (control.type !== "checkbox" || control.checked))
      .map(({ value }) => value)
      .filter((value) => value !== "");

  let wanted = {};
  const isShown = (id) => {
    const row = rows.get(id);
    return (
      row !== undefined &&
      Object.entries(wanted).every(([name, values]) => row[name] === "" || values.includes(row[name]))
    );
  };

  function readAddress() {
    const asked = new URLSearchParams(location.search);
    for (const control of controls) {
      const values = asked.getAll(control.name);
      if (control.type === "checkbox") control.checked = values.includes(control.value);
      else {
        const known = [...control.options].find(({ value }) => values.includes(value));
        control.value = (known ?? control.options[0]).value;
      }
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

  function apply() {
    const active = names.map((name) => [name, chosen(name)]).filter(([, values]) => values.length > 0);
    wanted = Object.fromEntries(active);
    for (const element of document.querySelectorAll("[data-row]")) {
      element.hidden = !isShown(element.dataset.row);
    }
    for (const element of document.querySelectorAll("[data-group-of]")) {
      element.hidden = !element.dataset.groupOf.split(" ").some(isShown);
    }
    for (const group of document.querySelectorAll("[data-group]")) {
      group.hidden = ![...group.querySelectorAll("[data-row], [data-group-of]")].some((row) => !row.hidden);
    }
    if (!form) return;
    const shown = [...rows.keys()].filter(isShown).length;
    form.querySelector("output").textContent = `${shown} of ${rows.size} configurations`;
    form.querySelector("[data-reset]").hidden = !controls.some((control) =>
      control.type === "checkbox" ? control.checked : control.selectedIndex > 0,
    );
    document.getElementById("nothing-shown").hidden = shown > 0;
  }

  function changed() {
    writeAddress();
    apply();
    document.dispatchEvent(new CustomEvent("filterchange"));
  }

  Object.assign(window.benchPage, { data, isShown });
  if (form) {
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("change", changed);
    form.querySelector("[data-reset]").addEventListener("click", () => {
      for (const control of controls) {
        if (control.type === "checkbox") control.checked = false;
        else control.selectedIndex = 0;
      }
      changed();
      controls[0].focus();
    });
    readAddress();
  }
  apply();
})();
