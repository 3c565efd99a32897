// Where a model of Replicate is asked, and what says that its version is not there.

/** `owner/name` runs what its owner keeps current, `owner/name:version` that version. */
export function targetOf(model: string): { readonly path: string; readonly version?: { readonly version: string } } {
  const [name, version] = model.split(':', 2);
  return version === undefined
    ? { path: `/models/${name}/predictions` }
    : { path: '/predictions', version: { version } };
}

/** Of the route's version, not of the client's input, which is refused with the same status. */
export function isUnknownVersion(error: unknown): error is { readonly detail: string } {
  const { status, detail } = fieldsOf(error);
  return status === 422 && /version does not exist|invalid version/i.test(String(detail));
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
