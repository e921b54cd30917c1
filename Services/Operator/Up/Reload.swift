import ServiceKit

/// One reload of all children, and what they say about it.
struct Reload {
    private static let timeout = Duration.seconds(10)

    let children: [Child]

    /// - Returns: The lines for the terminal; none if the task is cancelled meanwhile.
    func run() async -> [String] {
        guard !children.isEmpty else { return [] }
        let (reports, continuation) = AsyncStream.makeStream(of: (name: String, report: ReloadReport).self)
        for child in children { child.reload { continuation.yield((child.name, $0)) } }
        let timer = Task {
            // Cancelled, it ends at once.
            try? await Task.sleep(for: Self.timeout)
            continuation.finish()
        }
        var answers: [String: ReloadReport] = [:]
        for await (name, report) in reports {
            answers[name] = report
            if answers.count == children.count { break }
        }
        timer.cancel()
        return Task.isCancelled ? [] : Self.lines(answers, of: children.map(\.name))
    }

    /// Each line once, with the services that have said it.
    ///
    /// - Parameters:
    ///   - answers: By the names of the services.
    ///   - names: Of all services, in the order of their start.
    static func lines(_ answers: [String: ReloadReport], of names: [String]) -> [String] {
        var lines: [String] = []
        var services: [String: [String]] = [:]
        for name in names {
            for line in answers[name]?.lines ?? [] {
                if services[line] == nil { lines.append(line) }
                services[line, default: []].append(name)
            }
        }
        let said = lines.map { line in
            let named = services[line] ?? []
            return "\(line) (\(named.count == names.count ? "every service" : named.joined(separator: ", ")))"
        }
        let silent = names.filter { answers[$0] == nil }.map { "\($0) has not said yet what has changed; see its log" }
        return ["the settings were read again" + (said.isEmpty && silent.isEmpty ? ": nothing has changed" : "")]
            + (said + silent).map { "  " + $0 }
    }
}
