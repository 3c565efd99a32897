// Rendezvous hashing: every process picks the same of several choices for a name, without shared state, and a choice that
// falls out moves only the names that had it.

/** FNV-1a, 32 bits. */
export function hashName(name: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}

/** How well a choice suits a name, both as their hashes: the highest number wins. */
export function scoreChoice(name: number, choice: number): number {
  // The finalizer of MurmurHash3: any bit of either changes half of the result's.
  let mixed = name ^ choice;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
