/// The number of typing mistakes between two texts: a character omitted, added or replaced, or two neighbours swapped (the
/// optimal string alignment distance).
package func editDistance(_ one: String, _ other: String) -> Int {
    let (one, other) = (Array(one), Array(other))
    // The distances of a prefix of `one` to each prefix of `other`, and those of the two shorter prefixes.
    var (beforeLast, last) = ([Int](), Array(0...other.count))
    for row in one.indices {
        var current = [row + 1]
        for column in other.indices {
            var distance = min(
                last[column + 1] + 1, current[column] + 1, last[column] + (one[row] == other[column] ? 0 : 1))
            if row > 0, column > 0, one[row] == other[column - 1], one[row - 1] == other[column] {
                distance = min(distance, beforeLast[column - 1] + 1)
            }
            current.append(distance)
        }
        (beforeLast, last) = (last, current)
    }
    return last[other.count]
}
