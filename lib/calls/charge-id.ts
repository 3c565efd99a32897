// The id of a charge, as people and programs name it.

/** Of a request, a reply in any format or a part of it, or a video, all of which end in the same digits. */
const CALL_ID = /(?<![0-9a-z])(?:req|vid)_([0-9a-f]{32})(?![0-9a-f])/;

/** The id of a call's charge wherever it is in a text, such as `chatcmpl_req_…` or an error; another text trimmed. */
export function readChargeId(text: string): string {
  const digits = CALL_ID.exec(text)?.[1];
  return digits === undefined ? text.trim() : `req_${digits}`;
}

/** Whether it is that of a call through the API, which there may have been without a charge. */
export function isCallId(id: string): boolean {
  return /^req_[0-9a-f]{32}$/.test(id);
}
