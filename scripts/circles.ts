// Circles among imports: each as the files on it, in the order in which they import one another.

/** By file, the files that it imports. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** One circle for each file that closes one; none where every import leads on. */
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
