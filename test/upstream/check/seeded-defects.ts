// Defects seeded into the plugin of `mill.ts`, one changed line each, and the check that has to find it.
import { writeBusy } from './busy.ts';
import { SENDING_DEFECTS, type SeededDefect } from './sending-defects.ts';

const TAKE = 'take({ text, thought, state, page, drawn, call, usage, done, trouble }, out) {';
const ANSWER = "yield* host.answer(urlOf('/generate'), post(body, signal), readerOf());";
const SUBMIT = "const { value } = await host.json(urlOf('/images'), post({ model, prompt }, signal));";
const LOOK = "const { value } = await host.json(urlOf('/films/' + id), get(signal));";
const DRAWN = "return { images: [{ bytes: Buffer.from(base64, 'base64') }] };";
const SILENT = 'recording: an ordinary answer: reads as expected';

export const SEEDED_DEFECTS: readonly SeededDefect[] = [
  ...SENDING_DEFECTS,
  {
    what: 'sets a timer when it is created',
    from: 'const json = {',
    to: 'setInterval(() => {}, 60_000).unref();\n    const json = {',
    failing: 'settings: make it without a timer',
  },
  {
    what: 'changes the messages of its call',
    from: 'const system = call.system',
    to: "call.messages.push({ role: 'user', content: [] });\n      const system = call.system",
    failing: 'during text: leaves the call as it is',
  },
  {
    what: 'loses the reason to end',
    from: "out.finish(REASONS.get(done) ?? 'other', done)",
    to: "out.finish(REASONS.get(done) === 'tool' ? 'tool' : 'stop', done)",
    failing: 'recording: an answer that reaches the limit: reads as expected',
  },
  {
    what: 'cuts arguments',
    from: 'json: call.json }',
    to: 'json: call.id ? call.json : undefined, done: !call.id }',
    failing: 'recording: a call of a tool: reads as expected',
  },
  {
    what: 'does not see an error under status 200',
    from: 'if (trouble) throw host.fault.ofComplaint({ error: trouble }, true);',
    to: '',
    failing: 'recording: an error behind the first words: reads as expected',
  },
  {
    what: 'waits for a job that has failed',
    from: ", ['failed', 'failed']]",
    to: ']',
    failing: 'recording: a film that fails: reads as expected',
  },
  {
    what: 'waits for an image whose job has failed',
    from: "if (state === 'failed') throw host.fault.ofComplaint({ error: why }, true);",
    to: '',
    failing: 'recording: an image that fails: reads as expected',
    isLong: true,
  },
  {
    what: 'takes a filtered answer for a whole one',
    from: "['filtered', 'filter']",
    to: "['filtered', 'stop']",
    failing: 'recording: an answer that is filtered: reads as expected',
  },
  {
    what: 'takes a moderated film for a finished one',
    from: "['failed', 'failed']]",
    to: "['failed', 'completed']]",
    failing: 'recording: a film that the rules refuse: reads as expected',
  },
  {
    what: 'takes an abort for the end of an answer',
    from: ANSWER,
    to: `try { ${ANSWER} } catch (error) { if (!signal.aborted) throw error; yield [{ type: 'finish', reason: 'stop' }]; }`,
    failing: 'abort: after two thirds of the body closes the connection',
  },
  {
    what: 'ends in silence after an abort',
    from: ANSWER,
    to: `try { ${ANSWER} } catch (error) { if (!signal.aborted) throw error; }`,
    failing: 'abort: before the headers closes the connection',
  },
  {
    what: 'takes an abort for an empty image',
    from: 'const base64 = await host.poll({ ask, everyMs: 1000, signal });',
    to: "const base64 = await host.poll({ ask, everyMs: 1000, signal }).catch(() => '');",
    failing: 'abort of image: before the headers closes the connection',
  },
  {
    what: 'logs its key',
    from: ANSWER,
    to: `host.log.warn('asking', { settings }); ${ANSWER}`,
    failing: SILENT,
  },
  {
    what: 'logs its key where nobody expects it, at a refusal',
    from: SUBMIT,
    to: `const { value } = await host.json(urlOf('/images'), post({ model, prompt }, signal)).catch((error) => { host.log.warn('refused by ' + settings.apiKey); throw error; });`,
    failing: 'refusals of image: status 401 is auth',
  },
  ...['console.log', 'console.error', 'process.stdout.write', 'process.stderr.write'].map((print) => ({
    what: `prints its key by ${print}`,
    from: ANSWER,
    to: `${print}('key: ' + settings.apiKey + '\\n'); ${ANSWER}`,
    failing: SILENT,
  })),
  {
    what: 'prints its key when it is created',
    from: "const json = { 'content-type'",
    to: "console.info(settings); const json = { 'content-type'",
    failing: 'settings: make a provider that can do something',
  },
  {
    what: 'starts an image anew when its job has failed',
    from: 'text: answer, image: draw,',
    to: 'text: answer, image: (call, signal) => draw(call, signal).catch(() => draw(call, signal)),',
    failing: 'recording: an image that fails: reads as expected',
  },
  {
    what: 'starts an image anew when a poll is lost',
    from: 'const base64 = await host.poll({ ask, everyMs: 1000, signal });',
    to: `const base64 = await host.poll({ ask, everyMs: 1000, signal }).catch(async (error) => { await host.json(urlOf('/images'), post({ model, prompt }, signal)); throw error; });`,
    failing: 'asking for image: is charged once, whatever comes of it',
  },
  {
    what: 'starts a film anew when the reply lacks its id',
    from: "if (typeof id !== 'string') throw host.fault.make('protocol', 'no id');",
    to: "if (typeof id !== 'string') return start(call, signal);",
    failing: 'asking for video: is charged once, whatever comes of it',
  },
  {
    what: 'asks for an answer again that broke off',
    from: ANSWER,
    to: `try { ${ANSWER} } catch (error) { if (signal.aborted || error.kind !== 'network') throw error; ${ANSWER} }`,
    failing: 'asking for text: is charged once, whatever comes of it',
  },
  {
    what: 'draws an image again when the connection is lost',
    from: SUBMIT,
    to: `const submit = () => host.json(urlOf('/images'), post({ model, prompt }, signal));
      const { value } = await submit().catch((error) => { if (signal.aborted || error.kind !== 'network') throw error; return submit(); });`,
    failing: 'asking for image: is charged once, whatever comes of it',
  },
  {
    what: 'starts a film again when the connection is lost',
    from: 'video: { start, poll }',
    to: "video: { start: (call, signal) => start(call, signal).catch((error) => { if (signal.aborted || error.kind !== 'network') throw error; return start(call, signal); }), poll }",
    failing: 'asking for video: is done once when the answer is lost',
  },
  {
    what: 'takes a 404 of a poll for the verdict',
    from: 'video: { start, poll }',
    to: "video: { start, poll: (ref, signal) => poll(ref, signal).catch((fault) => { if (fault.status !== 404) throw fault; return { status: 'failed', fault }; }) }",
    failing: 'jobs of video: continues when a poll fails',
  },
  {
    what: 'cuts the bytes of an image',
    from: DRAWN,
    to: DRAWN.replace("'base64')", "'base64').subarray(0, -8)"),
    failing: 'recording: an image: reads as expected',
  },
  {
    what: 'takes half a reply for a whole one',
    from: "const { value } = await host.json(urlOf('/films'), post(film, signal));",
    to: `const reply = await host.request(urlOf('/films'), post(film, signal));
      const value = { id: /"id":"(.*?)"/.exec(await reply.body.text())?.[1] };`,
    failing: 'recording: a film: has no result when it is ended early',
  },
  {
    what: 'leaves a timer behind',
    from: ANSWER,
    to: `setTimeout(() => {}, 3000); ${ANSWER}`,
    failing: 'after text: leaves no timer behind',
  },
  {
    what: 'leaves a timer behind that keeps nobody up',
    from: SUBMIT,
    to: `setInterval(() => {}, 60_000).unref(); ${SUBMIT}`,
    failing: 'after image: leaves no timer behind',
  },
  {
    what: 'leaves a timer behind in a job',
    from: LOOK,
    to: `setTimeout(() => {}, 3000); ${LOOK}`,
    failing: 'after video: leaves no timer behind',
  },
  {
    what: 'leaves a connection open',
    from: SUBMIT,
    to: `${SUBMIT} await host.request(urlOf('/images/p1'), get(new AbortController().signal));`,
    failing: 'after image: leaves no connection open',
  },
  {
    what: 'drops text behind a reason to end',
    from: TAKE,
    to: `${TAKE} this.over ||= done; if (this.over && text) return;`,
    failing: 'stream: goes on behind a reason to end',
  },
  {
    what: 'puts its key into the URL',
    from: 'settings.baseUrl + path',
    to: "settings.baseUrl + path + '?key=' + settings.apiKey",
    failing: 'asking for text: keeps the key out of the URL',
  },
  {
    what: 'loses the counts',
    from: 'if (usage) out.usage(usage);',
    to: '',
    failing: SILENT,
  },
  {
    what: 'takes the end of the body for the end of the answer',
    from: 'take({ text,',
    to: "end: (out) => out.finish('stop', 'complete'), take({ text,",
    failing: 'recording: an ordinary answer: has no end when it is ended early',
  },
  {
    what: 'sends other words',
    from: 'text: host.textOf(content)',
    to: "text: 'Hello'",
    failing: SILENT,
  },
  {
    what: 'sends another limit',
    from: 'max_tokens: call.maxTokens',
    to: 'max_tokens: 1',
    failing: SILENT,
  },
  {
    what: 'cuts a thought',
    from: 'out.reasoning(thought)',
    to: 'out.reasoning(thought.slice(0, 200))',
    failing: 'stream: keeps a long piece of reasoning whole',
  },
  {
    what: 'keeps its process busy in a poll',
    from: LOOK,
    to: `${LOOK} ${writeBusy(150)}`,
    failing: 'during video: leaves the event loop to other calls while it is polled',
    isLong: true,
  },
  {
    what: 'cuts long pieces of a text',
    from: 'out.text(text)',
    to: 'out.text(text.slice(0, 200))',
    failing: 'stream: keeps a long piece of text whole',
  },
  {
    what: 'cuts long pieces of arguments',
    from: 'json: call.json }',
    to: 'json: call.json?.slice(0, 200) }',
    failing: 'stream: keeps a long piece of arguments whole',
  },
  {
    what: 'cuts the bytes of a large image',
    from: DRAWN,
    to: DRAWN.replace("'base64')", "'base64').subarray(0, 65536)"),
    failing: 'images: a large image arrives whole',
  },
  {
    what: 'waits for a job that has failed without a reason',
    from: "const status = STATES.get(state) ?? 'processing';",
    to: "const status = state === 'failed' && !why ? 'processing' : (STATES.get(state) ?? 'processing');",
    failing: 'jobs of video: end when they have failed for no reason that is given',
  },
  {
    what: 'keeps the event loop busy for a third of a second',
    from: DRAWN,
    to: `${writeBusy(300)} ${DRAWN}`,
    failing: 'during image: leaves the event loop to other calls',
    isLong: true,
  },
  {
    what: 'ignores an abort',
    from: 'body: JSON.stringify(body), signal, ',
    to: 'body: JSON.stringify(body), signal: new AbortController().signal, ',
    failing: 'abort: before the headers closes the connection',
  },
  {
    what: 'takes an unknown state for the end',
    from: "STATES.get(state) ?? 'processing'",
    to: "STATES.get(state) ?? 'completed'",
    failing: 'jobs of video: goes on at a word for its state that nobody knows',
  },
  {
    what: 'keeps one call in a variable of all',
    from: ANSWER,
    to: `globalThis.last = call; await new Promise((resolve) => setTimeout(resolve, 5)); if (globalThis.last !== call) return; ${ANSWER}`,
    failing: 'recording: an ordinary answer: is kept apart from others at the same time',
  },
  {
    what: 'says of every refusal that it is a failure',
    from: SUBMIT,
    to: `const { value } = await host.json(urlOf('/images'), post({ model, prompt }, signal)).catch(() => { throw host.fault.make('server', 'no'); });`,
    failing: 'refusals of image: status 401 is auth',
  },
  {
    what: 'takes a reply without an image for one',
    from: "if (typeof job !== 'string') throw host.fault.make('protocol', 'no job');",
    to: "if (typeof job !== 'string') return { images: [{ url: urlOf('/none.png') }] };",
    failing: 'refusals of image: an empty object or list is no answer',
  },
  {
    what: 'says nothing of a limit that it names',
    from: "faultWords: { content: 'bad_manners'",
    to: "limitHeaders: [{ remaining: 'x-left', reset: 'x-reset' }], faultWords: { content: 'bad_manners'",
    failing: 'limits: x-left is recorded, and x-reset with it',
  },
  {
    what: 'reads no more than three parts at a time',
    from: ANSWER,
    to: ANSWER.replace('yield* ', 'for await (const parts of ').replace(/;$/, ') yield parts.slice(0, 3);'),
    failing: 'recording: an ordinary answer: reads the same cut at every byte',
  },
  {
    what: 'loses a part that comes alone',
    from: ANSWER,
    to: ANSWER.replace('yield* ', 'for await (const parts of ').replace(/;$/, ') if (parts.length > 1) yield parts;'),
    failing: 'recording: an ordinary answer: reads the same cut at every byte',
  },
  {
    what: 'reads the beginning of a film for all of it',
    from: LOOK,
    to: `const { body } = await host.request(urlOf('/films/' + id), get(signal));
      let first;
      for await (const [chunk] of body.chunks()) first ??= Buffer.from(chunk).toString();
      const value = JSON.parse(first);`,
    failing: 'jobs of video: reads the same in polls cut at every byte',
  },
  {
    what: 'cancels nothing that is recorded',
    from: 'video: { start, poll }',
    to: 'video: { start, poll, cancel: async () => {} }',
    failing: 'jobs of video: are cancelled as recorded',
  },
  ...[
    'abort: before the call sends nothing',
    'stream: an abort within reasoning closes the connection',
    'cases: an abort within a call of a tool closes the connection',
  ].map((failing) => ({
    what: `ignores an abort: ${failing}`,
    from: 'body: JSON.stringify(body), signal, ',
    to: 'body: JSON.stringify(body), signal: new AbortController().signal, ',
    failing,
  })),
  {
    what: 'does not pass on when to ask again',
    from: ANSWER,
    to: `try { ${ANSWER} } catch ({ kind, status }) { throw host.fault.make(kind, '', { status }); }`,
    failing: 'refusals: a 429 says when to ask again',
  },
  {
    what: 'shows its key in a fault of its own',
    from: ANSWER,
    to: `const reply = await host.request(urlOf('/generate'), post(body, signal));
      if (reply.status === 401) throw Object.assign(new Error(await reply.body.text()), { name: 'UpstreamFault', kind: 'auth' });`,
    failing: 'refusals: a body that quotes the key keeps it out of the log',
  },
  {
    what: 'takes a page for the id of a film',
    from: "const { value } = await host.json(urlOf('/films'), post(film, signal));",
    to: `const reply = await host.request(urlOf('/films'), post(film, signal));
      const text = await reply.body.text();
      const value = text.startsWith('{') ? JSON.parse(text) : { id: text.slice(0, 5) };`,
    failing: 'refusals of video: an answer of HTML is no answer',
  },
];
