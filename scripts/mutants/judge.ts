// What judges whether tests notice a mutant.
import type { Mutant } from './draw.ts';
import type { Step } from './tests.ts';

type Outcome = 'killed' | 'timeout' | 'survived';

export interface Judge {
  judge(mutant: Mutant, steps: readonly Step[]): Promise<Outcome>;
  end(): void;
}
