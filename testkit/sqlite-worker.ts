// The entry point of the database threads of tests.
import { useTemplate } from './sqlite-template.ts';
import '../lib/store/sqlite/worker.ts';

useTemplate();
