/// A queue whose both ends cost the same however long it is.
struct FirstInFirstOut<Element> {
    private var arriving: [Element] = []
    /// In the order in which they leave, the next one last.
    private var leaving: [Element] = []

    var count: Int { arriving.count + leaving.count }

    mutating func append(_ element: Element) {
        arriving.append(element)
    }

    mutating func popFirst() -> Element? {
        if leaving.isEmpty {
            leaving = arriving.reversed()
            arriving.removeAll(keepingCapacity: true)
        }
        return leaving.popLast()
    }
}
