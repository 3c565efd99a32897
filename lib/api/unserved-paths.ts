// Paths of other services that clients know and this one does not serve: each with the endpoint to use instead.

interface Unserved {
  readonly path: RegExp;
  readonly hint: string;
}

const CHAT = 'POST /api/v1/chat/completions';
const MESSAGES = 'POST /api/v1/messages';
const RESPONSES = 'POST /api/v1/responses';

const UNSERVED: readonly Unserved[] = [
  { path: /\/responses\/input_tokens$/, hint: `Use ${RESPONSES}/input_tokens` },
  // Nothing can be read, cancelled or deleted later.
  { path: /\/responses\/./, hint: `No response is stored: ${RESPONSES} answers with all of it` },
  { path: /\/messages\/batches(?:\/.*)?$/, hint: `There are no batches: send each message to ${MESSAGES}` },
  { path: /\/batches(?:\/.*)?$/, hint: `There are no batches: send each call to ${CHAT}` },
  // With a deployment in front, or in other letters.
  { path: /\/chat\/completions$/i, hint: `Use ${CHAT}` },
  { path: /\/(?:completions|complete)$/, hint: `Prompts without messages are not served: use ${CHAT}` },
  { path: /^\/api\/(?:chat|generate)$/, hint: `Use ${CHAT}` },
  { path: /^\/api\/(?:tags|show)$/, hint: 'Use GET /api/v1/models' },
  { path: /:(?:streamGenerateContent|generateContent|countTokens)$/, hint: `Use ${CHAT}` },
  { path: /^\/api\/v1\/models\/./, hint: 'In GET /api/v1/models/{id}, write the slashes of an id as %2F' },
  { path: /\/files(?:\/.*)?$/, hint: 'No files are kept: send documents in base64, within a message' },
  { path: /\/images\/variations$/, hint: 'Use POST /api/v1/images/edits' },
  { path: /\/videos\/[^/]+(?:\/content)?$/, hint: 'Poll a video with GET /api/v1/videos?id=…, which names its file' },
  { path: /\/(?:credits|usage|dashboard\/billing\/\w+)$/, hint: 'Use GET /api/v1/balance' },
];

/** The end of a sentence; undefined for a path that nobody knows. */
export function findUnserved(path: string): string | undefined {
  return UNSERVED.find((each) => each.path.test(path))?.hint;
}
