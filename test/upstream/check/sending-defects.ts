// Defects in what the plugin of `mill.ts` sends.
export interface SeededDefect {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  readonly failing: string;
  /** Takes half a second or more of CPU time. */
  readonly isLong?: true;
}

const SUBMIT = "const { value } = await host.json(urlOf('/images'), post({ model, prompt }, signal));";

export const SENDING_DEFECTS: readonly SeededDefect[] = [
  {
    what: 'draws without the references',
    from: "if (call.images.length > 0) throw host.fault.make('request', 'takes no references');",
    to: '',
    failing: 'asking for image: sends each reference, or refuses the call',
  },
  {
    what: 'draws with the first of two references',
    from: "if (call.images.length > 0) throw host.fault.make('request', 'takes no references');\n      const urlOf = at(call);\n      const { value } = await host.json(urlOf('/images'), post({ model, prompt }, signal));",
    to: "const urlOf = at(call);\n      const reference = call.images[0] && Buffer.from(call.images[0].bytes).toString('base64');\n      const { value } = await host.json(urlOf('/images'), post({ model, prompt, reference }, signal));",
    failing: 'asking for image: sends each reference, or refuses the call',
  },
  {
    what: 'sends no key',
    from: 'headers: json, auth: host.bearer,',
    to: 'headers: json,',
    failing: 'asking for text: sends the key',
  },
  {
    what: 'sends one limit for all calls',
    from: 'max_tokens: call.maxTokens',
    to: 'max_tokens: 100',
    failing: 'asking for text: sends the limit of tokens',
  },
  {
    what: 'sends one model for all routes',
    from: 'body = { model: call.model,',
    to: "body = { model: 'm',",
    failing: 'asking for text: sends the model of the route',
  },
  {
    what: 'sends one length for all films',
    from: 'const film = { model, prompt, seconds,',
    to: 'const film = { model, prompt, seconds: 5,',
    failing: 'asking for video: sends the seconds',
  },
  {
    what: 'drops the resolution of a film',
    from: 'seconds, resolution, frame }',
    to: 'seconds, frame }',
    failing: 'asking for video: sends the resolution',
  },
  {
    what: 'drops the first frame of a film',
    from: 'seconds, resolution, frame }',
    to: 'seconds, resolution }',
    failing: 'asking for video: sends the first frame, or refuses it',
  },
  {
    what: 'cuts the prompt of a film',
    from: 'const film = { model, prompt,',
    to: 'const film = { model, prompt: prompt.slice(0, 200),',
    failing: 'asking for video: sends a long prompt whole',
  },
  {
    what: 'cuts the prompt of an image',
    from: SUBMIT,
    to: SUBMIT.replace('prompt }', 'prompt: prompt.slice(0, 200) }'),
    failing: 'asking for image: sends a long prompt whole',
  },
  {
    what: 'asks at the address of the settings whatever the route says',
    from: 'const at = host.perRoute(settings, (settings) => (path) => settings.baseUrl + path);',
    to: 'const at = () => (path) => settings.baseUrl + path;',
    failing: 'asking for image: asks at the address that the route has',
  },
  {
    what: 'cuts long arguments of earlier calls',
    from: 'json: part.json }',
    to: 'json: part.json.slice(0, 1000) }',
    failing: 'asking for text: sends long texts whole',
  },
  {
    what: 'keeps reasoning to itself',
    from: "case 'reasoning': return { thought: part.text, state: part.state?.value };",
    to: '',
    failing: 'asking for text: sends back what comes with its reasoning: a thought',
  },
  {
    what: 'sends half of an image',
    from: 'Buffer.from(part.bytes)',
    to: 'Buffer.from(part.bytes.subarray(0, part.bytes.length / 2))',
    failing: 'asking for text: sends images whole',
  },
  ...(['documents', 'audio'] as const).map((files) => ({
    what: `drops ${files}`,
    from: 'return { tools: true,',
    to: `return { ${files}: true, tools: true,`,
    failing: `asking for text: sends ${files} whole`,
  })),
  {
    what: 'drops the markers of the cache',
    from: 'return { tools: true,',
    to: 'return { cacheMarkers: true, tools: true,',
    failing: 'asking for text: sends the markers of the cache',
  },
  {
    what: 'drops what the system says later',
    from: 'text: answer, image: draw,',
    to: "systemMessages: true, text: (call, signal) => answer({ ...call, messages: call.messages.filter(({ role }) => role !== 'system') }, signal), image: draw,",
    failing: 'asking for text: sends texts of the system where they come',
  },
  {
    what: 'does not name the format of its states',
    from: "stateFormat: 'mill', ",
    to: '',
    failing: 'asking for text: names the format of its states',
  },
];
