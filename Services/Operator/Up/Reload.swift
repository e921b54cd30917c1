import FoundationEssentials
import ServiceKit

/// One reload of all children, and what they say about it. If one of them would refuse the settings, none reads them.
struct Reload {
    private static let timeout = Duration.seconds(10)

    let children: [Child]

    /// - Returns: The lines for the terminal; none if the task is cancelled meanwhile.
    func run() async -> [String] {
        guard !children.isEmpty else { return [] }
        let (mistakes, unchecked) = await check()
        guard !Task.isCancelled else { return [] }
        guard mistakes.isEmpty else { return Self.refusal(mistakes, of: children.map(\.name)) }
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
        // A service that could not be checked has decided by itself.
        return Task.isCancelled ? [] : Self.lines(answers, of: children.map(\.name)) + unchecked
    }

    /// What is wrong with the settings as they are now, by the names of the services, and a line for each service of which that is not
    /// known, such as on a machine that is too busy.
    private func check() async -> (mistakes: [String: [String]], unchecked: [String]) {
        var found: [String] = []
        // `--check-config` names these as well, and they stop no service.
        let warnings = await SettingValues(environment: ProcessInfo.processInfo.environment, mistakes: &found).warnings
        return await withTaskGroup(of: (String, Result<[String], any Error>).self) { group in
            for child in children {
                group.addTask {
                    do {
                        return (child.name, .success(try await child.settingsMistakes(within: Self.timeout)))
                    } catch {
                        return (child.name, .failure(error))
                    }
                }
            }
            var (mistakes, unchecked): ([String: [String]], [String]) = ([:], [])
            for await (name, result) in group {
                switch result {
                case .success(let lines):
                    let own = lines.filter { !warnings.contains($0) }
                    if !own.isEmpty { mistakes[name] = own }
                case .failure(let error): unchecked.append("  the settings of \(name) could not be checked before: \(error)")
                }
            }
            return (mistakes, unchecked.sorted())
        }
    }

    /// The lines about settings that no service reads, because at least one would refuse them.
    ///
    /// - Parameters:
    ///   - mistakes: By the names of the services.
    ///   - names: Of all services, in the order of their start.
    static func refusal(_ mistakes: [String: [String]], of names: [String]) -> [String] {
        ["the settings have a mistake, and no service reads them: nothing has changed"] + grouped(mistakes, of: names)
    }

    /// The lines about a reload.
    ///
    /// - Parameters:
    ///   - answers: By the names of the services.
    ///   - names: Of all services, in the order of their start.
    static func lines(_ answers: [String: ReloadReport], of names: [String]) -> [String] {
        let said = grouped(answers.mapValues(\.lines), of: names)
        let silent = names.filter { answers[$0] == nil }.map { "  \($0) has not said yet what has changed; see its log" }
        let refused = names.filter { answers[$0]?.isRefused == true }
        let headline =
            switch refused.count {
            case 0: "the settings were read again" + (said.isEmpty && silent.isEmpty ? ": nothing has changed" : "")
            case names.count: "the settings have a mistake: nothing has changed"
            default: "the settings were read again, but not by \(refused.joined(separator: ", "))"
            }
        return [headline] + said + silent
    }

    /// Each line once, with the services that have said it.
    private static func grouped(_ said: [String: [String]], of names: [String]) -> [String] {
        var lines: [String] = []
        var services: [String: [String]] = [:]
        for name in names {
            for line in said[name] ?? [] {
                if services[line] == nil { lines.append(line) }
                services[line, default: []].append(name)
            }
        }
        return lines.map { line in
            let named = services[line] ?? []
            return "  \(line) (\(named.count == names.count ? "every service" : named.joined(separator: ", ")))"
        }
    }
}
