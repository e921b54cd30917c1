import FoundationEssentials
import TestSupport
import Testing

/// The examples of `Services/Gateway/API.md`, as somebody runs them by curl against the whole product.
enum DocumentExamples {
    /// A request of the examples.
    struct Request: Hashable {
        /// `nil` if no example says what it is answered.
        let status: Int?
        let method: String
        /// Without the query.
        let path: String
    }

    /// A route, by its method and its path in the OpenAPI document.
    struct Route: Hashable {
        let method: String
        let path: String

        /// Whether a request is for it.
        func matches(_ request: Request) -> Bool {
            let (wanted, found) = (path.split(separator: "/"), request.path.split(separator: "/"))
            return request.method == method && wanted.count == found.count
                && zip(wanted, found).allSatisfy { Self.isPart($1, of: $0) }
        }

        /// - Parameter wanted: A part of the route's path. `{account}` is any name. Other parameters are ids, and not the words of other
        ///   routes: `/sessions/past` is no session.
        private static func isPart(_ found: Substring, of wanted: Substring) -> Bool {
            if wanted == "{account}" { return true }
            return wanted.hasPrefix("{") ? found.allSatisfy(\.isHexDigit) : wanted == found
        }

        /// The statuses that the requests for it were answered with.
        func statuses(in requests: [Request]) -> Set<Int> { Set(requests.filter(matches).compactMap(\.status)) }
    }

    /// The blocks of a section, up to the next one of its level, in their order.
    ///
    /// - Parameter heading: Such as `## Study sessions`.
    static func blocks(of heading: String) throws -> [String] {
        let text = try String(contentsOfFile: BuiltProduct.packageFolder() + "Services/Gateway/API.md", encoding: .utf8)
        let start = try #require(text.firstRange(of: "\n\(heading)\n"), "API.md has no section \(heading)").upperBound
        // A heading of a higher level ends it as well. One of the first level would look like a comment of a script.
        let ends = (2...max(2, heading.prefix { $0 == "#" }.count)).compactMap { level in
            text[start...].firstRange(of: "\n\(String(repeating: "#", count: level)) ")?.lowerBound
        }
        return text[start..<(ends.min() ?? text.endIndex)].matches(of: /```bash\n(?s)(.*?)```/).map { String($0.1) }
    }

    /// Makes the persons of the examples, with the functions that the other examples use.
    static func persons() throws -> String { try #require(blocks(of: "### By curl").first, "it makes Ann and Bob") }

    /// Runs a script, which must succeed, and returns its requests.
    ///
    /// - Parameter files: Those of the folder in which it runs, by their names.
    static func run(_ script: String, at stack: Stack, files: [String: String] = [:]) async throws -> [Request] {
        let examples = script.replacing("http://127.0.0.1:8080", with: "http://127.0.0.1:\(stack.portal.port)")
            // A reader of the document waits for a sign of life. The beginning is enough here.
            .replacing("timeout 6 ", with: Level.isAll ? "timeout 6 " : "timeout 1 ")
        return try await withTemporaryFolder { folder in
            for (name, content) in files { try Data(content.utf8).write(to: URL(filePath: "\(folder)/\(name)")) }
            // Each request is written down. That of a failing one is followed by what the script expects.
            let script = """
                set -euo pipefail
                cd \(folder)
                curl() { printf 'curl %s\\n' "$*" >> requests.log; command curl "$@"; }
                hub() { curl -fsS -w '\\n' -H @<(echo "Authorization: Bearer $TOKEN") "$url$1" "${@:2}"; }
                \(examples)
                """
            let own = ProcessInfo.processInfo.environment
            // The examples start Python more than seventy times, and that of a version manager starts slowly.
            let environment = own.merging([
                "TOKEN": stack.portal.token ?? "", "PATH": "/usr/bin:" + (own["PATH"] ?? "/bin"),
            ]) { $1 }
            let bash = try await ChildProcess(
                URL(filePath: "/bin/bash"), ["-c", script], environment: environment, logFile: folder + "/output.log")
            let status = await bash.end()
            #expect(status == 0, "\(bash.log.suffix(2_000))")
            let made = (try? String(contentsOfFile: folder + "/requests.log", encoding: .utf8)) ?? ""
            return expected(in: bash.log) + unfailing(in: made)
        }
    }

    /// The requests of the lines that `expect` prints: `201 ann-lee /classes/…/sessions --json …`.
    private static func expected(in log: String) -> [Request] {
        log.split(separator: "\n").compactMap { line in
            let form = /^(\d{3}) [a-z-]+ (\/[^ ?]*)[^ ]*(.*)$/
            guard let request = line.firstMatch(of: form), let status = Int(request.1) else { return nil }
            return Request(status: status, method: method(of: request.3), path: String(request.2))
        }
    }

    /// The requests that were made with `-f`: the script would have ended if one had been refused.
    private static func unfailing(in log: String) -> [Request] {
        log.split(separator: "\n").compactMap { line in
            guard line.contains(/^curl -f/), let url = line.firstMatch(of: /http:\/\/127\.0\.0\.1:\d+(\/[^ ?]*)/) else {
                return nil
            }
            return Request(status: nil, method: method(of: line), path: String(url.1))
        }
    }

    private static func method(of arguments: Substring) -> String {
        if let named = arguments.firstMatch(of: /-X ([A-Z]+)/) { return String(named.1) }
        return [" --json", " --data"].contains { arguments.contains($0) } ? "POST" : "GET"
    }
}
