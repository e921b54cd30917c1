import FoundationEssentials
import Glibc
import Base
import TestSupport

/// The C program that posts to the gateway, and the requests that it sends.
struct GatewayDriver {
    /// One answer; the times are nanoseconds of ``MonotonicClock``.
    struct Answer {
        /// When the request was sent; at a rate, when it was due.
        let began: UInt64
        let answered: UInt64
        let msiKey: String
    }

    let port: Int
    /// The bearer token of the posts.
    let token: String
    let peers: String
    /// The folder for the requests and the answers.
    let folder: String

    /// Posts messages for some seconds, and waits for the last answers.
    ///
    /// - Parameters:
    ///   - subjects: The subjects, used in turn.
    ///   - rate: Posts a second that are due at equal intervals, whether earlier ones are answered or not; `nil` if each client
    ///     sends its next one when the previous one is answered.
    func post(to subjects: [SubjectPath], clients: Int, rate: Double?, seconds: Double) async throws -> [Answer] {
        let files = try subjects.enumerated().map { number, subject in
            let body = subject.message(
                title: "Campus closed", desc: "Please stay at home",
                message: "All lectures of today are cancelled because of the storm. "
                    + "The library and the canteen stay closed until tomorrow at noon."
            ).data
            let head =
                "POST /message HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(token)\r\n"
                + "Content-Length: \(body.count)\r\n\r\n"
            return try write(Data(head.utf8) + body, to: "post\(number)")
        }
        _ = try await run(files, clients: clients, rate: rate, seconds: seconds, status: 201)
        let answers = try String(contentsOfFile: answersFile, encoding: .utf8).split(separator: "\n")
        return try answers.map { line in
            let fields = line.split(separator: " ")
            guard fields.count == 3, let began = UInt64(fields[0]), let answered = UInt64(fields[1]), fields[2] != "-" else {
                throw PeerFailure(description: "an answer without a message: \(line)")
            }
            return Answer(began: began, answered: answered, msiKey: String(fields[2]))
        }
    }

    /// Sends requests that the gateway answers without another service.
    ///
    /// - Returns: Answers a second.
    func askForProblem(clients: Int, seconds: Double) async throws -> Double {
        let request = "GET /problems/not-found HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        let file = try write(Data(request.utf8), to: "get")
        let result = try await run([file], clients: clients, rate: nil, seconds: seconds, status: 200)
        return result.count / result.seconds
    }

    private var answersFile: String { folder + "/answers" }

    private func run(
        _ requestFiles: [String], clients: Int, rate: Double?, seconds: Double, status: Int
    ) async throws -> (count: Double, seconds: Double) {
        try await Peer(path: peers + "/drive_gateway").run(
            [String(port), String(clients), String(seconds), String(rate ?? 0), String(status), answersFile] + requestFiles)
    }

    private func write(_ request: Data, to name: String) throws -> String {
        let file = "\(folder)/\(name)"
        try request.write(to: URL(filePath: file))
        return file
    }
}

/// The clock of the C programs' times.
enum MonotonicClock {
    static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}
