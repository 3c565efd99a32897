// Loaded into a gateway before anything else: its wall clock is off by what a file says.
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
