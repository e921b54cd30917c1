/// How the benchmarks print their figures.
enum Table {
    /// One line: columns of fourteen characters, the first of them of a width of its own.
    static func row(_ columns: String..., first: Int = 14) -> String {
        columns.enumerated().map { index, text in
            text + String(repeating: " ", count: max(1, (index == 0 ? first : 14) - text.count))
        }.joined()
    }
}

extension Double {
    /// Rounded to hundredths.
    var twoDigits: Double {
        (self * 100).rounded() / 100
    }
}
