// The unit of systemd as its settings.
/** The settings of a unit, with all values of one that is there more than once; a line that ends in a backslash goes on. */
export function parseUnit(text: string): ReadonlyMap<string, readonly string[]> {
  const lines = text.replaceAll(/\\\n\s*/g, '').split('\n');
  const settings = lines.flatMap((line) => {
    const [, name, value] = /^([A-Z]\w+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value ?? ''] as const];
  });
  const byName = Map.groupBy(settings, ([name]) => name);
  return new Map([...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}
