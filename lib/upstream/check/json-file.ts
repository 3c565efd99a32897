// Reads a file of fixtures, and says which one is no JSON.
import { readFileSync } from 'node:fs';

export function readJsonFile(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path}: ${(error as Error).message}`);
  }
}
