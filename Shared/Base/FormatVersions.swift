/// The numbers of the forms of one kind of stored data that this version knows. They begin with 1.
///
/// Two neighbouring versions of the product work on the same data. So a version reads the next form one release before any version
/// writes it ("Versions" in Shared/Store/README.md).
package struct FormatVersions: Hashable, Sendable {
    /// The number of the form that this version writes.
    package let written: Int
    /// The numbers of the forms that it reads. A higher one than ``written`` is that of the next version.
    package let readable: ClosedRange<Int>

    package init(written: Int, readable: ClosedRange<Int>) {
        precondition(readable.contains(written), "a version reads what it writes")
        self.written = written
        self.readable = readable
    }

    /// Refuses data whose form this version does not read.
    ///
    /// - Parameter data: What has the number, for the error, such as a file's name.
    /// - Throws: ``UnknownFormat``.
    package func check(_ number: Int, of data: String) throws(UnknownFormat) {
        guard readable.contains(number) else { throw UnknownFormat(data, number: number, known: self) }
    }
}

/// Another version has written data in a form that this version does not know.
package struct UnknownFormat: Error, CustomStringConvertible {
    package let description: String

    package init(_ data: String, number: Int, known: FormatVersions) {
        description =
            "\(data) has the format \(number), which this version does not know; the highest one that it knows is "
            + "\(known.readable.upperBound)"
    }
}
