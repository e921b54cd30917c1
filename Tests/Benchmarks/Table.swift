<<<<<<< HEAD
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
=======
/// The tables that the benchmarks print.
enum Table {
    /// One line: each column has 14 characters, or as many as it needs.
    static func row(_ columns: String...) -> String {
        columns.map { $0 + String(repeating: " ", count: max(1, 14 - $0.count)) }.joined()
    }

    static func twoDigits(_ number: Double) -> Double {
        (number * 100).rounded() / 100
>>>>>>> 7e4d1ef (Measure the relay beside libcurl, h2load and the Firebase Admin SDK)
    }
}
