extension Array where Element: Sendable {
    /// Applies a function to all elements, to some at a time.
    ///
    /// - Returns: The results, in the order of the elements.
    func concurrently<Value: Sendable>(
        _ atOnce: Int, _ body: @escaping @Sendable (Element) async throws -> Value
    ) async -> [Result<Value, any Error>] {
        var results: [Result<Value, any Error>] = []
        for start in stride(from: 0, to: count, by: atOnce) {
            let part = self[start..<Swift.min(start + atOnce, count)]
            let found = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
                for (place, element) in part.enumerated() {
                    group.addTask { (place, await result(of: element, body)) }
                }
                var ended: [(Int, Result<Value, any Error>)] = []
                for await one in group { ended.append(one) }
                return ended
            }
            results += found.sorted { $0.0 < $1.0 }.map { $0.1 }
        }
        return results
    }
}

/// A separate function, since the compiler gets errors wrong that a task of a group catches.
private func result<Element, Value>(
    of element: Element, _ body: (Element) async throws -> Value
) async -> Result<Value, any Error> {
    do {
        return .success(try await body(element))
    } catch {
        return .failure(error)
    }
}
