import Base
import Bus
import FoundationEssentials
import Schemas
import Synchronization
import TestSupport

@testable import Gateway

/// A study service on the bus that answers with the examples of the API's document, tells of events that a test makes up, and
/// records the commands that it gets.
final class StudyDouble: Sendable {
    private struct State {
        /// Who is in which class.
        var members: [ObjectID: Set<AccountName>] = [:]
        /// Those of everybody.
        var invites: [SessionInvite] = []
        var publisher: EventPublisher?
        var lastPerson: Int64 = 0
        var lastClass: Int64 = 0
    }

    private let epoch = ObjectID()
    private let commands = AskedCommands()
    private let state = Mutex(State())

    var asked: [AskedCommands.Asked] { commands.all }

    /// Lets a command fail; `nil` lets it succeed again.
    func fail(_ command: String, _ failure: CommandFailure?) {
        commands.fail(command, failure)
    }

    /// Puts persons into a class, in place of those who were in it. Nobody is told.
    func put(_ accounts: [String], into classID: ObjectID) {
        state.withLock { $0.members[classID] = Set(accounts.map { .sample($0) }) }
    }

    /// Everybody is invited by these persons, and by nobody else. Nobody is told.
    func invite(by accounts: [String]) {
        let invites = accounts.map { SessionInvite(session: .example, by: .sample($0), at: .exampleTime) }
        state.withLock { $0.invites = invites }
    }

    // MARK: Events

    /// Publishes the event of a person.
    ///
    /// - Parameter skipped: How many events before it nobody gets.
    func tell(_ account: String, _ kind: String, _ id: ObjectID? = nil, skipped: Int64 = 0) {
        let number = state.withLock { state in
            state.lastPerson += 1 + skipped
            return state.lastPerson
        }
        let event = PersonChanged(
            epoch: epoch, number: number, account: .sample(account), kind: kind, id: id.map { "\($0)" })
        publish(PersonChanged.name, event)
    }

    /// Publishes the event of a class, as ``tell(_:_:_:skipped:)``.
    func tell(_ classID: ObjectID, _ kind: ClassChanged.Kind, of session: ObjectID, skipped: Int64 = 0) {
        let number = state.withLock { state in
            state.lastClass += 1 + skipped
            return state.lastClass
        }
        let event = ClassChanged(epoch: epoch, number: number, classID: classID, kind: kind, session: session)
        publish(ClassChanged.name, event)
    }

    private func publish(_ name: String, _ event: some Encodable) {
        guard let publisher = state.withLock(\.publisher), let json = try? JSONCoder.encode(event) else { return }
        publisher.publish(name, json)
    }

    // MARK: Commands

    /// Runs it at the endpoints that the gateway in the same folder uses.
    func run<Result>(
        in folder: String, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await withBus { bus in
            let publisher = try EventPublisher(
                bus: bus, endpoint: "ipc://\(folder)/run/study-events.sock", logger: quietLogger)
            let server = try CommandServer(
                bus: bus, endpoint: "ipc://\(folder)/run/study.sock", router: router, logger: quietLogger)
            state.withLock { $0.publisher = publisher }
            let running = Task { try await server.run() }
            defer {
                running.cancel()
                state.withLock { $0.publisher = nil }
            }
            return try await body()
        }
    }

    private var router: CommandRouter {
        var router = CommandRouter()
        answerClasses(&router)
        answerSessions(&router)
        return router
    }

    private func answer<C: Command>(_ type: C.Type, _ reply: C.Reply, _ router: inout CommandRouter) {
        commands.answer(type, in: &router) { _, _ in reply }
    }

    private func classes(of account: String?) -> [ObjectID] {
        guard let account = account.flatMap({ AccountName($0) }) else { return [] }
        return state.withLock { state in state.members.filter { $0.value.contains(account) }.map(\.key) }
    }

    private func answerClasses(_ router: inout CommandRouter) {
        commands.answer(ListClasses.self, in: &router) { _, actor in
            ListClasses.Reply(classes: self.classes(of: actor).map { StudyClass.example(withID: $0) })
        }
        commands.answer(CheckClassmate.self, in: &router) { command, actor in
            let own = Set(self.classes(of: actor))
            return CheckClassmate.Reply(shared: !own.isDisjoint(with: self.classes(of: command.account.description)))
        }
        answer(AddClass.self, .example, &router)
        answer(GetClass.self, .example, &router)
        answer(UpdateClass.self, .example, &router)
        answer(JoinClass.self, .example, &router)
        answer(LeaveClass.self, .init(), &router)
        answer(ChooseClassPushes.self, .example, &router)
        answer(ListClassAccounts.self, .init(accounts: [.sample("bob"), .sample("carl")], next: "2-b"), &router)
        answer(ReadStudyRules.self, .example, &router)
        answer(ListClassKeys.self, .init(keys: [.example]), &router)
        answer(AddClassKey.self, .example, &router)
        answer(ReplaceClassKey.self, .example, &router)
        answer(RemoveClassKey.self, .init(), &router)
        answer(ListClassMembers.self, .init(members: [.example], next: "m+1"), &router)
        answer(ChangeClassRole.self, .example, &router)
        answer(RemoveClassMember.self, .init(), &router)
    }

    private func answerSessions(_ router: inout CommandRouter) {
        answer(ListSessions.self, .init(sessions: [.example], now: .exampleTime), &router)
        answer(FindNearSessions.self, .init(sessions: [.init(.example, distance: 7)], now: .exampleTime), &router)
        commands.answer(ReadOwnSessions.self, in: &router) { _, _ in
            let invites = self.state.withLock(\.invites)
            return ReadOwnSessions.Reply(current: .example, hosted: [], invites: invites, now: .exampleTime)
        }
        answer(ListOwnPastSessions.self, .init(sessions: [.example], next: nil), &router)
        // Two parts, as an export reads them.
        commands.answer(ListPastSessions.self, in: &router) { command, _ in
            ListPastSessions.Reply(sessions: [.example], next: command.after == nil ? "p1" : nil)
        }
        answer(GetSession.self, .example, &router)
        answer(AddSession.self, .example, &router)
        answer(JoinSession.self, .example, &router)
        answer(UpdateSession.self, .example, &router)
        answer(LeaveSession.self, .init(), &router)
        answer(EndSession.self, .init(), &router)
        answer(ReportPosition.self, .example, &router)
        commands.answer(InviteToSession.self, in: &router) { command, _ in
            InviteToSession.Reply(invited: command.accounts)
        }
        answer(ListPosts.self, .init(posts: [.example], next: nil, now: .exampleTime), &router)
        answer(AddPost.self, .example, &router)
        answer(RemovePost.self, .init(), &router)
    }
}

extension StudyClass {
    /// The example with another id.
    fileprivate static func example(withID id: ObjectID) -> StudyClass {
        let other = example
        return StudyClass(
            id: id, name: other.name, description: other.description, identificationKey: other.identificationKey,
            professor: other.professor, role: other.role, newSessions: other.newSessions, created: other.created,
            closed: other.closed, members: other.members, sessions: other.sessions, nameDays: other.nameDays)
    }
}

extension Route {
    /// Whether it is about classes and study sessions.
    var isOfStudy: Bool {
        let beginnings = ["/class", "/user/classes", "/user/sessions", "/study"]
        return right == .person && beginnings.contains { path.hasPrefix($0) }
    }
}
