// @ts-check
// Asks once more before a form is sent whose effect cannot be taken back. Without it the words beside the form have to do.

document.addEventListener('submit', (event) => {
  const form = /** @type {HTMLFormElement} */ (event.target);
  const question = form.dataset.confirm;
  if (question !== undefined && !confirm(question)) event.preventDefault();
});
