// @ts-check
// Makes the playground live: the price follows the form, and text shows as it arrives. All markup is made by the server.

import { adopt, parse } from './live.js';

const PRICE_AFTER_MS = 400;

/**
 * The images of earlier turns by the calls of those turns: sent again while this page is open.
 * @type {Map<string, readonly File[]>}
 */
const sentImages = new Map();

const form = /** @type {HTMLFormElement | null} */ (document.querySelector('#play'));
if (form) followForm(form);

/** @param {string} id */
function part(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}

/**
 * @param {string} path
 * @param {string} what
 * @param {AbortSignal} signal
 */
async function post(path, what, signal) {
  const fields = new FormData(/** @type {HTMLFormElement} */ (form));
  fields.set('do', what);
  keepImages(fields);
  // The price depends on the number of images, not on their content.
  if (what === 'price') fields.delete('image');
  const response = await fetch(path, { method: 'POST', body: fields, signal });
  // The session has ended: show the sign-in page.
  if (response.redirected) location.href = response.url;
  return response;
}

/**
 * Puts the images of earlier turns before those of the message, the latest first as far as a call takes them.
 * @param {FormData} fields
 */
function keepImages(fields) {
  const { turns = [] } = JSON.parse(String(fields.get('turns') || '{}'));
  let left = Number(form?.dataset.images) - Number(fields.get('images'));
  const kept = [];
  for (const { call, answered } of turns.toReversed()) {
    const images = sentImages.get(call) ?? [];
    if (images.length === 0 || images.length > left || answered.trim() === '') continue;
    kept.unshift(call);
    left -= images.length;
  }
  const own = fields.getAll('image');
  fields.set('kept', kept.join(' '));
  fields.delete('image');
  for (const image of [...kept.flatMap((call) => sentImages.get(call) ?? []), ...own]) fields.append('image', image);
}

/** @param {HTMLFormElement} form */
function followForm(form) {
  const turns = /** @type {HTMLInputElement | null} */ (form.elements.namedItem('turns'));
  if (turns) keepConversation(turns);
  let asking = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;

  /** @param {readonly string[]} ids */
  async function showPrice(ids) {
    clearTimeout(timer);
    asking.abort();
    asking = new AbortController();
    try {
      const response = await post(form.action, 'price', asking.signal);
      const samples = document.querySelector('#samples details')?.hasAttribute('open');
      if (response.ok) adopt(await response.text(), ids);
      if (samples) document.querySelector('#samples details')?.setAttribute('open', '');
    } catch {
      // Replaced by a newer request, or tried again with the next change.
    }
  }

  const files = /** @type {HTMLInputElement | null} */ (form.querySelector('[type=file]'));
  const count = /** @type {HTMLInputElement} */ (form.elements.namedItem('images'));
  files?.addEventListener('change', () => {
    count.value = String(files.files?.length ?? 0);
    document.getElementById('again')?.remove();
  });
  form.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(showPrice, PRICE_AFTER_MS, ['price', 'samples']);
  });
  form.addEventListener('change', ({ target }) => {
    const isModel = target instanceof HTMLSelectElement && target.name === 'model';
    void showPrice(isModel ? ['choices', 'price', 'samples'] : ['price', 'samples']);
  });
  form.addEventListener('submit', (event) => {
    const { submitter } = event;
    const sends = submitter instanceof HTMLButtonElement && submitter.value === 'send';
    const downloads = submitter instanceof HTMLButtonElement && submitter.value === 'download';
    if (downloads || (sends && form.dataset.live === undefined)) return;
    event.preventDefault();
    // The last answer moves up into the conversation.
    if (sends && turns?.value) void showPrice(['conversation']);
    if (sends) void sendText(form, submitter);
    else void showPrice(['choices', 'price', 'samples']);
  });
}

/**
 * The conversation outlives the page in this tab, for the same session only.
 * @param {HTMLInputElement} turns
 */
function keepConversation(turns) {
  const { action, elements } = /** @type {HTMLFormElement} */ (form);
  const csrf = /** @type {HTMLInputElement} */ (elements.namedItem('csrf'));
  const name = `turns ${csrf.value} ${new URL(action).search}`;
  const kept = sessionStorage.getItem(name) ?? '';
  for (const other of Object.keys(sessionStorage)) {
    if (other.startsWith('turns ') && !other.startsWith(`turns ${csrf.value} `)) sessionStorage.removeItem(other);
  }
  turns.addEventListener('input', () => sessionStorage.setItem(name, turns.value));
  document.getElementById('anew')?.addEventListener('click', () => {
    sessionStorage.removeItem(name);
    sessionStorage.removeItem(`${name} system`);
  });
  const system = /** @type {HTMLTextAreaElement} */ (elements.namedItem('system'));
  system.value ||= sessionStorage.getItem(`${name} system`) ?? '';
  if (system.value !== '') system.closest('details')?.setAttribute('open', '');
  system.addEventListener('input', () => sessionStorage.setItem(`${name} system`, system.value));
  if (turns.value !== '') sessionStorage.setItem(name, turns.value);
  else if (kept !== '') {
    turns.value = kept;
    void post(action, 'price', new AbortController().signal).then(async (response) => {
      if (response.ok) adopt(await response.text(), ['conversation']);
    });
  }
}

/**
 * After an answer: the next message starts empty, and is sent with the turns so far.
 * @param {string} turns
 * @param {readonly File[]} images Of the message that was answered.
 */
function continueConversation(turns, images) {
  const { elements } = /** @type {HTMLFormElement} */ (form);
  const field = /** @type {HTMLInputElement} */ (elements.namedItem('turns'));
  field.value = turns;
  const last = JSON.parse(turns).turns.at(-1);
  if (last) sentImages.set(last.call, images);
  /** @type {HTMLTextAreaElement} */ (elements.namedItem('prompt')).value = '';
  const files = /** @type {HTMLInputElement | null} */ (elements.namedItem('image'));
  if (files) files.value = '';
  /** @type {HTMLInputElement} */ (elements.namedItem('images')).value = '0';
  field.dispatchEvent(new Event('input', { bubbles: true }));
}

/**
 * @param {HTMLFormElement} form
 * @param {HTMLButtonElement} button
 */
async function sendText(form, button) {
  const { live = '', lost = '', stopped = '' } = form.dataset;
  const call = new AbortController();
  const stop = /** @type {HTMLButtonElement} */ (part('stop'));
  stop.onclick = () => call.abort();
  setBusy(true);
  part('answer').hidden = false;
  part('asked').textContent = /** @type {HTMLTextAreaElement} */ (form.elements.namedItem('prompt')).value;
  part('thoughts').hidden = true;
  part('thoughts').lastElementChild?.replaceChildren();
  part('reply').textContent = '';
  part('outcome').textContent = '';
  const images = /** @type {HTMLInputElement | null} */ (form.elements.namedItem('image'))?.files ?? [];
  try {
    const response = await post(live, 'send', call.signal);
    if (response.headers.get('content-type')?.startsWith('text/event-stream')) await showEvents(response, [...images]);
    else showRefusal(await response.text());
  } catch {
    part('outcome').textContent = call.signal.aborted ? stopped : lost;
  }
  setBusy(false);

  /** @param {boolean} busy */
  function setBusy(busy) {
    button.disabled = busy;
    stop.hidden = !busy;
    part('answer').ariaBusy = String(busy);
  }
}

/** @param {string} page */
function showRefusal(page) {
  if (adopt(page, ['answer'])) return;
  // An error page has no answer section.
  part('reply').textContent = parse(page).querySelector('main')?.textContent ?? '';
}

/**
 * @param {Response} response
 * @param {readonly File[]} images
 */
async function showEvents(response, images) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  let isWhole = false;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const events = (rest + decoder.decode(value, { stream: true })).split('\n\n');
    rest = events.pop() ?? '';
    let text = '';
    let thoughts = '';
    /** @type {HTMLImageElement[]} */
    const drawn = [];
    for (const event of events) {
      const data = event.slice(event.indexOf('data: ') + 6);
      if (event.startsWith('event: outcome')) {
        isWhole = true;
        const { html, turns } = JSON.parse(data);
        part('outcome').replaceChildren(...parse(html).body.childNodes);
        if (turns) continueConversation(turns, images);
      } else if (data.startsWith('{')) {
        const delta = JSON.parse(data).choices?.[0]?.delta;
        text += delta?.content ?? '';
        thoughts += delta?.reasoning_content ?? '';
        for (const { image_url: image } of delta?.images ?? []) {
          drawn.push(Object.assign(new Image(), { src: image.url, alt: part('asked').textContent }));
        }
      }
    }
    part('reply').append(text, ...drawn);
    if (thoughts !== '') {
      part('thoughts').hidden = false;
      part('thoughts').lastElementChild?.append(thoughts);
    }
  }
  if (!isWhole) throw new Error('the connection was lost');
}
