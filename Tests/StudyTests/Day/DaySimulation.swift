import Base
import Bus
import Schemas
import TestSupport
import Testing

@testable import ServiceKit
@testable import Study

/// Students of a simulated day at the real commands of a running service, whose clock the test moves. What the service answers is
/// compared with a model at once, and its pushes at the end.
///
/// One thing happens after another, so that the model knows the order. Simultaneous changes are tested elsewhere.
final class DaySimulation {
    struct Group {
        let id: ObjectID
        let professor: AccountName
        let assistant: AccountName
    }

    let plan: DayPlan
    let client: PatientClient
    let clock: TestClock
    let rules: StudyRules
    private let sessionClock: SessionClock

    var model: DayModel
    var random: SeededGenerator
    var students: [DayStudent] = []
    var groups: [Group] = []
    /// How often each thing was done, so that a day on which nothing happens is noticed.
    private(set) var done: [String: Int] = [:]
    private var keys = 0

    /// How many classes a student is in, and how many students a class has.
    private static let classesPerStudent = 4
    private static let studentsPerClass = 40

    private init(
        _ plan: DayPlan, _ client: PatientClient, _ clock: TestClock, _ sessionClock: SessionClock, _ rules: StudyRules
    ) {
        self.plan = plan
        self.client = client
        self.clock = clock
        self.sessionClock = sessionClock
        self.rules = rules
        model = DayModel(rules: rules)
        random = SeededGenerator(seed: plan.seed)
    }

    /// Runs a service in a folder, and a body with the students of its classes.
    static func with(
        _ plan: DayPlan, in folder: String, clock: TestClock, _ body: (DaySimulation) async throws -> Void
    ) async throws {
        let settings = try await SettingValues(
            arguments: [], environment: ["MSI_STATE_DIR": folder, "MSI_STUDY_POSTS_PER_MINUTE": "600"], accepted: [])
        let service = try await ServicePlan.study(Wiring(settings: settings, logger: quietLogger), now: { clock.now })
        let sessionClocks = service.services.compactMap { $0 as? SessionClock }
        try await service.run {
            try await withBus { bus in
                let client = PatientClient(
                    client: try CommandClient(bus: bus, endpoints: ["ipc://\(folder)/run/study.sock"], logger: quietLogger))
                let rules = try await client.request(ReadStudyRules())
                let day = DaySimulation(plan, client, clock, try #require(sessionClocks.first), rules)
                try await day.enrol()
                try await body(day)
            }
        }
    }

    // MARK: Aids

    func person(_ name: AccountName) -> TestPerson { TestPerson(client: client, name: name) }

    func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }

    func chance(_ percent: Int) -> Bool { number(1...100) <= percent }

    /// A new idempotency key.
    func newKey() -> String {
        keys += 1
        return "key-\(keys)"
    }

    func note(_ what: String) { done[what, default: 0] += 1 }

    // MARK: The beginning

    private func enrol() async throws {
        var studentKeys: [Secret] = []
        for place in 0..<max(Self.classesPerStudent, plan.students * Self.classesPerStudent / Self.studentsPerClass) {
            let professor: AccountName = try #require(AccountName("prof-\(place)"))
            let assistant: AccountName = try #require(AccountName("ta-\(place)"))
            let draft = ClassDraft(name: "Class \(place)", identificationKey: "CLASS-\(place)")
            let id = try await person(professor).request(AddClass(draft)).id
            studentKeys.append(try await person(professor).request(AddClassKey(to: id, ClassKeyDraft(role: .student))).code)
            let staffKey = try await person(professor).request(AddClassKey(to: id, ClassKeyDraft(role: .assistant)))
            _ = try await person(assistant).join(staffKey)
            groups.append(Group(id: id, professor: professor, assistant: assistant))
            model.members[id] = [professor, assistant]
            // Its staff learns of new sessions.
            model.announcing[id] = [professor, assistant]
        }
        for place in 0..<plan.students {
            let name: AccountName = try #require(AccountName("student-\(place)"))
            let own = groups.indices.shuffled(using: &random).prefix(Self.classesPerStudent)
            for group in own {
                _ = try await person(name).request(JoinClass(key: studentKeys[group], address: "192.0.2.1"))
                model.members[groups[group].id, default: []].append(name)
            }
            let classes = own.map { groups[$0].id }
            if chance(10), let first = classes.first {
                _ = try await person(name).request(ChooseClassPushes(first, newSessions: true))
                model.announcing[first, default: []].insert(name)
            }
            let building = DayCampus.buildings[number(0...DayCampus.buildings.count - 1)]
            students.append(DayStudent(name: name, classes: classes, at: building, nextDecision: clock.now + nextPause()))
        }
    }

    func nextPause() -> Milliseconds { .seconds(Int64.random(in: plan.pause, using: &random)) }

    // MARK: The day

    /// Lets all steps of the day pass.
    func run() async throws {
        for step in 0..<plan.steps {
            try await pass(DayPlan.step)
            for index in students.indices { try await act(index) }
            for group in groups where chance(1) { try await supervise(group) }
            if step % 180 == 179 { try await checkWhereabouts() }
        }
    }

    /// Time passes, and the service does what is due then.
    func pass(_ time: Milliseconds) async throws {
        clock.pass(time)
        try await settle()
    }

    /// What is due now is done.
    func settle() async throws {
        model.pass(to: clock.now)
        try await sessionClock.look()
    }
}
