// Import cycles: each as its files, in the order in which they import one another.

/** The files that each file imports. */
type Imports = ReadonlyMap<string, readonly string[]>;

/** One cycle for each file that closes one; empty if there are none. */
export function findCircles(imports: Imports): readonly (readonly string[])[] {
  const circles: (readonly string[])[] = [];
  const path: string[] = [];
  const left = new Set<string>();

  function enter(file: string): void {
    if (left.has(file)) return;
    const from = path.indexOf(file);
    if (from !== -1) {
      circles.push([...path.slice(from), file]);
      return;
    }
    path.push(file);
    for (const target of imports.get(file) ?? []) enter(target);
    path.pop();
    left.add(file);
  }

  for (const file of imports.keys()) enter(file);
  return circles;
}
