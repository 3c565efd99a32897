// The unit of systemd as its settings.
/** The settings of a unit, with all values of one that is there more than once. */
export function parseUnit(text: string): ReadonlyMap<string, readonly string[]> {
  const settings = text.split('\n').flatMap((line) => {
    const [, name, value] = /^([A-Z]\w+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value ?? ''] as const];
  });
  const byName = Map.groupBy(settings, ([name]) => name);
  return new Map([...byName].map(([name, pairs]) => [name, pairs.map(([, value]) => value)]));
}
