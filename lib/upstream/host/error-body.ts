// Finds the error in an upstream's response, in any of the shapes that servers use.

/** An error in the upstream's words, wherever in the body it was. */
export interface Complaint {
  readonly message: string;
  /** Its codes and types in lower case. */
  readonly words: readonly string[];
  /** An HTTP status named in the body. */
  readonly status?: number;
  /** When to ask again, such as `34.5s`: some vendors say so in the body alone. */
  readonly retryDelay?: string;
  /** Whether a vendor behind the upstream says it: an account it speaks of is then the upstream's there, not ours. */
  readonly isBehind?: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** The error in a JSON value; undefined if there is none. `certain`: it is one, so a message alone is enough. */
export function findComplaint(value: unknown, certain = false): Complaint | undefined {
  if (typeof value === 'string') return certain ? { message: value, words: [] } : undefined;
  if (Array.isArray(value)) return findComplaint(value[0], certain);
  const fields = readErrorFields(value);
  if (!fields) return undefined;
  for (const key of ['error', 'errors', 'detail', 'Error', 'ErrorMsg'] as const) {
    const inner = fields[key];
    if (isFilled(inner)) return readError(inner, fields);
  }
  const base = readErrorFields(fields.base_resp);
  if (base && base.status_code !== 0 && base.status_code !== undefined) {
    return { message: readErrorText(base.status_msg) ?? 'no message', words: [`base:${base.status_code}`] };
  }
  return saysFailure(fields) || certain ? readError(fields, fields) : undefined;
}

function saysFailure(fields: Fields): boolean {
  if (fields.type === 'error' || fields.object === 'error' || fields.success === false) return true;
  if (fields.error_code !== undefined || fields.error_msg !== undefined) return true;
  if (typeof fields.status === 'number' && isErrorStatus(fields.status)) return true;
  const code = fields.code ?? undefined;
  if (code !== undefined) return !HARMLESS_CODES.has(`${code}`.toLowerCase());
  return fields.choices === undefined && readErrorText(fields.message ?? fields.msg) !== undefined;
}

const HARMLESS_CODES = new Set(['', '0', '200', '20000', 'ok', 'success']);

/** Reads the error object and, for what it lacks, the object around it. */
function readError(inner: unknown, outer: Fields): Complaint {
  const error: Fields = readErrorFields(Array.isArray(inner) ? inner[0] : inner) ?? {};
  const metadata: Fields = readErrorFields(error.metadata) ?? {};
  const said = findMessage(inner, error, outer) ?? JSON.stringify(inner ?? null).slice(0, EXCERPT_CHARS);
  // Brokers only say that a vendor refused, and what it said beside that.
  const raw = readErrorText(metadata.raw);
  const codes = listCodes(error, metadata, outer);
  const words = codes.map((code) => `${code}`.toLowerCase()).filter((word) => !SILENT.has(word) && word.length < 100);
  const status = [...codes, outer.status_code, error.status_code].map(Number).find(isErrorStatus);
  const retryDelay =
    findRetryDelay(error.details) ??
    readSeconds(error.retry_after ?? outer.retry_after ?? metadata.retry_after_seconds);
  return {
    message: raw ? `${said}: ${raw}` : said,
    words,
    ...(status !== undefined && { status }),
    ...(retryDelay !== undefined && { retryDelay }),
    ...(raw && { isBehind: true }),
  };
}

function findMessage(inner: unknown, error: Fields, outer: Fields): string | undefined {
  const { message, msg, error_msg: errorMsg, details, Message, Msg, title } = error;
  return (
    readErrorText(message ?? msg ?? errorMsg ?? details ?? Message ?? Msg ?? title) ??
    readErrorText(inner) ??
    readErrorText(outer.message ?? outer.msg)
  );
}

/** Everything that may be a code, those of the error itself first. */
function listCodes(error: Fields, metadata: Fields, outer: Fields): readonly (string | number)[] {
  const own = [error.code, error.type, error.status, error.error_code, error.http_code, error.httpCode, error.Code];
  const reasons = [error.reason, ...listReasons(error.details)];
  const others = [metadata.error_type, outer.code, outer.type, outer.error_type, outer.error_code, outer.status];
  return [...own, ...reasons, ...others].filter((code) => typeof code === 'string' || typeof code === 'number');
}

/** The error details of gRPC, which many APIs use: the code above them is one of a few. */
function listReasons(details: unknown): readonly unknown[] {
  return Array.isArray(details) ? details.map((detail) => readErrorFields(detail)?.reason) : [];
}

function findRetryDelay(details: unknown): string | undefined {
  const delays = Array.isArray(details) ? details.map((detail) => readErrorFields(detail)?.retryDelay) : [];
  return delays.find((delay) => typeof delay === 'string');
}

function readSeconds(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'string' ? `${value}` : undefined;
}

const SILENT = new Set(['', '0', 'error', 'null', 'none', 'api_error']);
const EXCERPT_CHARS = 2000;

function isErrorStatus(code: number): boolean {
  return Number.isInteger(code) && code >= 400 && code < 600;
}

/** Some servers have an error object in every reply, all of whose fields are empty. */
function isFilled(value: unknown): boolean {
  if (typeof value === 'string' || value === true) return value !== '';
  const isSaid = (inner: unknown) =>
    Boolean(inner) && (typeof inner !== 'object' || Object.keys(inner ?? {}).length > 0);
  return Object.values(readErrorFields(value) ?? {}).some(isSaid);
}

function readErrorText(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  return typeof value === 'object' && value !== null ? JSON.stringify(value).slice(0, EXCERPT_CHARS) : undefined;
}

function readErrorFields(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
}
