import FoundationEssentials

/// What the system tells about any process (proc(5)), as far as this user may see it.
struct ProcessFiles: Sendable {
    /// Its environment at its start.
    let environment: [String: String]
    /// Its command line without the program's name.
    let arguments: [String]
    /// The fields of its state that follow its name.
    let fields: [String]

    /// - Returns: `nil` if this user may not see its environment, or if it has ended.
    init?(_ id: Int32) {
        guard let variables = Self.contents("/proc/\(id)/environ") else { return nil }
        environment = Dictionary(
            variables.split(separator: "\0").compactMap { variable in
                let parts = variable.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                return parts.count == 2 ? (parts[0], parts[1]) : nil
            }, uniquingKeysWith: { first, _ in first })
        arguments = (Self.contents("/proc/\(id)/cmdline") ?? "").split(separator: "\0").dropFirst().map(String.init)
        // The name of the program, in parentheses, may contain anything.
        fields =
            (Self.contents("/proc/\(id)/stat") ?? "").split(separator: ")").last?.split(whereSeparator: \.isWhitespace).map(
                String.init)
            ?? []
    }

    /// Whether a signal has stopped it: it keeps its sockets, and answers nothing.
    var isStopped: Bool { fields.first.map { ["T", "t"].contains($0) } ?? false }

    static func contents(_ path: String) -> String? {
        (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
    }
}
