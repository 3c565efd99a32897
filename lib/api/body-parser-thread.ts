// The thread that parses long bodies: callers come first, so it yields before it loads its modules, which takes most of
// its start.
import { yieldToOthers } from '../platform/thread-priority.ts';

yieldToOthers();
await import('./body-parser-work.ts');
