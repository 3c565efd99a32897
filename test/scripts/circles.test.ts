import assert from 'node:assert/strict';
import { findCircles } from '../../scripts/circles.ts';

describe('findCircles', () => {
  const circles = (imports: Record<string, readonly string[]>) => findCircles(new Map(Object.entries(imports)));

  it('finds none in a graph without cycles, even if two files import a third', () => {
    assert.deepEqual(circles({ a: ['b', 'c'], b: ['d'], c: ['d'], d: [] }), []);
  });

  it('names the files of a circle in the order of their imports, without those that only lead to it', () => {
    assert.deepEqual(circles({ a: ['b'], b: ['c'], c: ['d'], d: ['b'] }), [['b', 'c', 'd', 'b']]);
  });

  it('finds two files that import each other, and a file that imports itself', () => {
    assert.deepEqual(circles({ a: ['b'], b: ['a'], c: ['c'] }), [
      ['a', 'b', 'a'],
      ['c', 'c'],
    ]);
  });

  it('finds the circle behind a file that another one has led to before', () => {
    assert.deepEqual(circles({ a: [], b: ['a', 'c'], c: ['a', 'b'] }), [['b', 'c', 'b']]);
  });

  it('ignores imported files that do not exist', () => {
    assert.deepEqual(circles({ a: ['gone'] }), []);
  });
});
