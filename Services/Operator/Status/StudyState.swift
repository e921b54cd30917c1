import Base
import Bus
import Schemas
import ServiceKit

/// What `msi status` knows about the study sessions.
enum StudyState: Sendable {
    /// The gateway knows no study service.
    case absent
    case known(CountStudy.Reply)
    /// - Parameter problem: Why they are not known.
    case unknown(problem: String)

    /// How long the service may take for its answer.
    private static let timeout = Duration.seconds(2)

    var counts: CountStudy.Reply? {
        if case .known(let counts) = self { counts } else { nil }
    }

    var problem: String? {
        if case .unknown(let problem) = self { problem } else { nil }
    }

    /// Asks the service at the endpoints of the settings, if the gateway has one.
    static func read(_ settings: SettingValues, _ health: ProductStatus.Health) async -> StudyState {
        guard health.services[ServiceEntry.study.name] != nil else { return .absent }
        do {
            let endpoints = try settings.value(.endpoints(of: .study))
            return .known(
                try await CommandClient.with(endpoints, settings) { try await $0.request(CountStudy(), timeout: timeout) })
        } catch {
            return .unknown(problem: (error as? CommandFailure)?.message ?? "\(error)")
        }
    }

    /// The lines for a person.
    var lines: [String] {
        switch self {
        case .absent: []
        case .known(let counts): [counts.summary]
        case .unknown(let problem): ["study: the sessions are not known: \(problem)".onOneLine(maxLength: 300)]
        }
    }
}

extension CountStudy.Reply {
    /// Something that waits longer than this is late: a session is ended, and its attendants are told, within seconds.
    static let maxOverdue = Milliseconds.seconds(60)

    /// Whether the service is late with its work on open sessions.
    var isLate: Bool { overdue > Self.maxOverdue }

    fileprivate var summary: String {
        let classes = classes == 1 ? "1 class" : "\(classes) classes"
        let open = "study: \(counted(sessions, "open session")) with \(counted(attendants, "person")), in \(classes)"
        return isLate ? open + "; ends and pushes are late by \(overdue.rounded)" : open
    }
}
