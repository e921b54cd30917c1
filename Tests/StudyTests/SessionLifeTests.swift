import Base
import Schemas
import Testing

@testable import Study

/// The pure rules of a session's life: each input in each state.
@Suite("The life of a session")
struct SessionLifeTests {
    /// The columns are the states of ``states``; the rows are the inputs of ``inputs``. `x` is a conflict, with its field; `-` is
    /// nothing.
    private static let table = """
        join         joined,changed     joined,changed     joined,changed     x:ended            x:ended
        again        -                  -                  -                  x:ended            x:ended
        full         x:attendants       x:attendants       x:attendants       x:ended            x:ended
        leave        left,changed       left,changed       left,changed       x:ended            x:ended
        stranger     -                  -                  -                  x:ended            x:ended
        host         host,changed       host,changed       host,changed       x:ended            x:ended
        staff        staff,changed      staff,changed      staff,changed      x:ended            x:ended
        closed       closed,changed     closed,changed     closed,changed     x:ended            x:ended
        restored     changed            changed            changed            x:ended            x:ended
        hand-over    handed,changed     handed,changed     handed,changed     x:ended            x:ended
        to-oneself   -                  -                  -                  x:ended            x:ended
        to-stranger  x:host             x:host             x:host             x:ended            x:ended
        topics       changed            changed            changed            x:ended            x:ended
        same-topics  -                  -                  -                  x:ended            x:ended
        too-long     x:minutes          x:minutes          x:minutes          x:ended            x:ended
        too-short    x:minutes          x:minutes          x:minutes          x:ended            x:ended
        near         inside             inside             inside             x:ended            x:ended
        far          never              outside            outside            x:ended            x:ended
        unknown      never?             inside?            outside?           x:ended            x:ended
        posted       posts              posts              posts              x:ended            x:ended
        removed      -                  -                  -                  x:ended            x:ended
        clock        -                  -                  -                  -                  over
        """

    private static let now = UnixMilliseconds.minute(30)

    /// Each of "ann" as the host and "bob", at ``now``: never, inside, outside for a minute, ended.
    private static let states: [SessionDocument] = {
        var ended = SessionDocument.sample()
        ended.open = nil
        ended.ended = .minute(20)
        ended.reason = .host
        ended.due = nil
        let outside = SessionDocument.Area(state: .outside, since: .minute(29))
        return [.sample(area: .never), .sample(), .sample(area: outside), ended]
    }()

    /// Those that are over at ``now`` and that nobody has written down as ended, with what the clock makes of them.
    private static let over: [(SessionDocument, String)] = {
        var restored = SessionDocument.sample()
        restored.restored = .minute(25)
        restored.due = 0
        let grace = SessionDocument.Area(state: .outside, since: .minute(25))
        let both = SessionDocument.Area(state: .outside, since: .minute(20))
        return [
            (.sample(minutes: 30), "time,changed"), (.sample(area: grace), "left,changed"), (restored, "changed"),
            (.sample(minutes: 25, area: both), "time,changed"), (.sample(minutes: 26, area: both), "left,changed"),
        ]
    }()

    private static let inputs: [Substring: SessionInput] = [
        "join": .join(SessionDocument.attendant("cem", joined: now)), "again": .join(SessionDocument.attendant("bob")),
        "leave": .leave(account: "bob"), "stranger": .leave(account: "eve"), "host": .leave(account: "ann"),
        "staff": .end(.staff, by: "tina"), "closed": .end(.closed, by: nil), "restored": .end(.restored, by: nil),
        "hand-over": .handOver(to: "bob"), "to-oneself": .handOver(to: "ann"), "to-stranger": .handOver(to: "eve"),
        "topics": .edit(SessionEdit(topics: ["Optics"])), "same-topics": .edit(SessionEdit(topics: ["Waves"])),
        "too-long": .edit(SessionEdit(minutes: 721)), "too-short": .edit(SessionEdit(minutes: 30)),
        "near": .report(.near), "far": .report(.far), "unknown": .report(.unknown), "posted": .posted(by: "bob"),
        "removed": .postRemoved(waiting: []), "clock": .clock,
    ]

    private static func text(_ output: SessionOutput) -> String {
        switch output {
        case .joined: "joined"
        case .left: "left"
        case .ended(let reason, _, _): reason.rawValue
        case .handedOver: "handed"
        case .presence(let presence): presence.state.rawValue + (presence.inaccurate == true ? "?" : "")
        case .endsSoon: "soon"
        case .posts: "posts"
        case .changed: "changed"
        }
    }

    /// What an input does to a session at ``now``.
    private static func outcome(_ input: SessionInput, of session: SessionDocument, _ rules: StudyRules) -> String {
        var session = session
        do throws(CommandFailure) {
            let outputs = try session.apply(input, at: now, rules)
            return outputs.isEmpty ? "-" : outputs.map { text($0) }.joined(separator: ",")
        } catch {
            #expect(error.status == .conflict)
            return "x:\(error.field ?? "")"
        }
    }

    @Test("Each input in each state has the outcome of the table")
    func outcomes() throws {
        let full = StudyRules.limited(attendants: 2)
        let rows = Self.table.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(Set(rows.map { $0[0] }) == Set(Self.inputs.keys).union(["full"]))
        for row in rows {
            let isFull = row[0] == "full"
            let input = try #require(Self.inputs[isFull ? "join" : row[0]])
            let rules = isFull ? full : StudyRules.sample
            let outcomes = Self.states.map { Self.outcome(input, of: $0, rules) }
            #expect(outcomes == row[1...4].map { String($0) }, "\(row[0])")
            for (session, byClock) in Self.over {
                let expected = row[5] == "over" ? byClock : String(row[5])
                #expect(Self.outcome(input, of: session, rules) == expected, "\(row[0])")
            }
        }
    }

    @Test("A session is open up to the last millisecond before its end, and its answer says so whatever is stored")
    func ends() throws {
        let session = SessionDocument.sample()
        let last: UnixMilliseconds = .minute(60) - 1
        #expect(session.isOpen(at: last, .sample) && !session.isOpen(at: .minute(60), .sample))
        #expect(session.settled(at: last, .sample) == session)
        let settled = session.settled(at: .minute(90), .sample)
        #expect(settled.view(for: "ann", .sample).ended == .time)
        #expect(settled.ended == .minute(60) && settled.due == nil && settled.open == nil)
        // However late somebody writes it down.
        let late = try session.after(.clock, at: .minute(600))
        #expect(late.ended == .minute(60) && late.reason == .time && late.attendants == session.attendants)
        #expect(try late.after(.clock, at: .minute(601)) == late)
    }

    @Test("A session of a backup is not open, and ends at the restore without a word, or at its end if that was before")
    func restored() throws {
        var session = SessionDocument.sample()
        session.due = 0
        session.restored = .minute(40)
        #expect(!session.isOpen(at: .minute(10), .sample))
        #expect(try session.after(.clock, at: .minute(41)).ended == .minute(40))
        session.restored = .minute(6_000)
        let ended = try session.after(.clock, at: .minute(6_001))
        #expect(ended.ended == .minute(60) && ended.reason == .restored)
        let outputs = try session.apply(.clock, at: .minute(6_001), .sample)
        #expect(outputs == [.changed])
    }

    @Test("All are told of an end but who has caused it, also a host who does not attend")
    func told() throws {
        func told(_ input: SessionInput, at now: UnixMilliseconds = .minute(30), of session: SessionDocument) throws -> [String] {
            var session = session
            for case .ended(_, _, let names) in try session.apply(input, at: now, .sample) { return names.map(\.key) }
            return ["nobody"]
        }
        let session = SessionDocument.sample(attendants: ["ann", "bob", "cem"])
        #expect(try told(.leave(account: "ann"), of: session) == ["bob", "cem"])
        #expect(try told(.end(.staff, by: "bob"), of: session) == ["ann", "cem"])
        #expect(try told(.end(.staff, by: "tina"), of: session) == ["ann", "bob", "cem"])
        #expect(try told(.end(.closed, by: nil), of: session) == ["ann", "bob", "cem"])
        #expect(try told(.clock, at: .minute(60), of: session) == ["ann", "bob", "cem"])
        #expect(try told(.end(.restored, by: nil), of: session) == ["nobody"])
        let sponsored = SessionDocument.sample(sponsored: true, attendants: ["bob"], host: "Tina")
        #expect(try told(.clock, at: .minute(60), of: sponsored) == ["bob", "tina"])
        #expect(try told(.leave(account: "tina"), of: sponsored) == ["bob"])
        // An attendant of a session that somebody else hosts leaves it open.
        #expect(try told(.leave(account: "bob"), of: sponsored) == ["nobody"])
    }

    @Test("The next host was there; the earlier one stays if they attend, and the next one has to come into the area first")
    func handOver() throws {
        let outside = SessionDocument.Area(state: .outside, since: .minute(29))
        for session in [SessionDocument.sample(area: outside), .sample(sponsored: true, attendants: ["bob"], host: "tina")] {
            let handed = try session.after(.handOver(to: "bob"), at: .minute(30))
            #expect(handed.host == "bob" && handed.hostName == "bob" && handed.hostRole == .student && handed.hostNumber == 2)
            #expect(handed.attendants == session.attendants && handed.area == .never)
            #expect(handed.isOpen(at: .minute(59), .sample))
            // Who leaves as the host ends it, and the earlier one leaves as anybody.
            #expect(try handed.after(.leave(account: "bob"), at: .minute(31)).reason == .host)
            #expect(try handed.after(.leave(account: session.host ?? ""), at: .minute(31)).open == true)
        }
    }

    @Test("Attendants are in the order of their coming, each once, and who comes again comes last")
    func attendants() throws {
        let session = try SessionDocument.sample().after(.join(SessionDocument.attendant("cem", joined: 5)), at: 5)
        #expect(session.attendants.map(\.account) == ["ann", "bob", "cem"])
        let again = try session.after(.leave(account: "bob"), at: 6)
            .after(.join(SessionDocument.attendant("Bob", joined: 7)), at: 7)
        #expect(again.attendants.map(\.account) == ["ann", "cem", "bob"])
        #expect(again.view(for: "ann", .sample).attendants.map(\.description) == ["ann", "cem", "Bob"])
    }
}
