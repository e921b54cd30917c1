import Glibc

/// The tables of the benchmarks.
enum Table {
    /// One line of columns.
    ///
    /// - Parameters:
    ///   - first: The width of the first column, in characters.
    ///   - width: The width of each other one.
    static func row(_ columns: String..., first: Int = 14, width: Int = 14) -> String {
        row(columns, first: first, width: width)
    }

    private static func row(_ columns: [String], first: Int, width: Int) -> String {
        columns.enumerated().map { index, text in
            text + String(repeating: " ", count: max(1, (index == 0 ? first : width) - text.count))
        }.joined()
    }

    /// One line: a name, followed by columns of fourteen characters.
    static func row(_ name: String, _ columns: [String], first: Int) -> String {
        row([name] + columns, first: first, width: 14)
    }
}

extension Double {
    /// Rounded to hundredths.
    var twoDigits: Double {
        (self * 100).rounded() / 100
    }
}

extension Array where Element: BinaryFloatingPoint {
    /// The median; of an even number of values, the upper one of the two middle ones. It is robust against single slow runs.
    var median: Element {
        sorted()[count / 2]
    }
}

/// Prints a line and flushes it, so that a reader of a pipe sees the progress.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
