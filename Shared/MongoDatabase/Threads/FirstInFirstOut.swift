/// A FIFO queue with constant cost at both ends.
struct FirstInFirstOut<Element> {
    private var arriving: [Element] = []
    /// In reverse order: the next element is the last one.
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
