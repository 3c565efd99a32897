// Preloaded into a gateway: shifts its wall clock by the offset in a file.
import { readFileSync } from 'node:fs';

const file = process.env.CLOCK_FILE as string;
const real = Date.now.bind(Date);
let offsetMs = read();
setInterval(() => {
  offsetMs = read();
}, 20).unref();

Date.now = () => real() + offsetMs;

function read(): number {
  return Number(readFileSync(file, 'utf8')) || 0;
}
