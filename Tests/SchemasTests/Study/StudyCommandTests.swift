import Base
import FoundationEssentials
import Schemas
import Testing

/// The commands about classes and study sessions, in the form in which services of other versions send them.
@Suite("Commands about classes and study sessions")
struct StudyCommandTests {
    private static let id = "5a0b0c0d5a0b0c0d5a0b0c0d"
    private static let one = #"{"id":"\#(id)"}"#
    private static let ofClass = #"{"class":"\#(id)"}"#
    private static let inClass = #"{"class":"\#(id)","id":"\#(id)"}"#
    private static let group =
        #"{"closed":9,"created":3,"description":"d","id":"\#(id)","identification_key":"PHY-1","members":2,"name":"Physics","#
        + #""name_days":365,"new_sessions":true,"professor":"ann","role":"professor","sessions":1}"#
    private static let key = #"{"code":"K7QF-2M9X","created":3,"expires":9,"id":"\#(id)","role":"ta","used":1,"uses":5}"#
    private static let member = #"{"account":"ann","joined":3,"number":2,"role":"student"}"#
    private static let entry =
        #"{"closed":9,"id":"\#(id)","identification_key":"PHY-1","members":2,"name":"Physics","professor":"ann"}"#
    private static let place = #"{"latitude":51.5007,"longitude":-0.1246,"name":"Library"}"#
    private static let position = #"{"accuracy":12.5,"latitude":51.5007,"longitude":-0.1246}"#
    private static let session =
        #"{"attendants":["bob"],"class":"\#(id)","description":"d","ended":"left","ends":9,"host":"ann","host_role":"ta","#
        + #""id":"\#(id)","place":\#(place),"room":100,"sponsored":true,"starts":3,"topics":["Waves"]}"#
    private static let answer = #"{"now":7,"session":\#(session)}"#
    private static let page = #""after":"a""#

    @Test("Classes")
    func classes() throws {
        try checkWireForm(
            AddClass.self, "class.add",
            #"{"draft":{"description":"d","identification_key":"PHY-1","name":"Physics","name_days":30},"request_key":"k"}"#,
            reply: Self.group)
        try checkWireForm(ListClasses.self, "class.list", "{}", reply: #"{"classes":[\#(Self.group)]}"#)
        try checkWireForm(GetClass.self, "class.get", Self.one, reply: Self.group)
        try checkWireForm(
            UpdateClass.self, "class.update",
            #"{"edit":{"closed":true,"description":"","identification_key":"P","name":"N","name_days":1},"id":"\#(Self.id)"}"#,
            reply: Self.group)
        try checkWireForm(
            JoinClass.self, "class.join", #"{"address":"192.0.2.1","key":"K7QF-2M9X"}"#, reply: Self.group)
        try checkWireForm(LeaveClass.self, "class.leave", Self.one)
        try checkWireForm(
            ChooseClassPushes.self, "class.choose", #"{"id":"\#(Self.id)","new_sessions":true}"#, reply: Self.group)
        try checkWireForm(
            ListClassAccounts.self, "class.mates", #"{\#(Self.page),"id":"\#(Self.id)","limit":5}"#,
            reply: #"{"accounts":["ann"],"next":"b"}"#)
        try checkWireForm(CheckClassmate.self, "class.shared", #"{"account":"bob"}"#, reply: #"{"shared":true}"#)
        try checkWireForm(
            ReadStudyRules.self, "study.rules", "{}",
            reply: #"{"accuracy":200,"attendants":100,"classes":30,"grace":300,"invites":50,"max_minutes":720,"members":5000,"#
                + #""posts_per_minute":10,"radius":150,"sessions":500,"sponsored":5}"#)
    }

    @Test("Keys and rosters, and what the operator asks for")
    func staff() throws {
        try checkWireForm(ListClassKeys.self, "class_key.list", Self.ofClass, reply: #"{"keys":[\#(Self.key)]}"#)
        try checkWireForm(
            AddClassKey.self, "class_key.add",
            #"{"class":"\#(Self.id)","draft":{"expires":9,"role":"ta","uses":5},"request_key":"k"}"#, reply: Self.key)
        try checkWireForm(ReplaceClassKey.self, "class_key.replace", Self.inClass, reply: Self.key)
        try checkWireForm(RemoveClassKey.self, "class_key.remove", Self.inClass)
        try checkWireForm(
            ListClassMembers.self, "class_member.list", #"{\#(Self.page),"class":"\#(Self.id)","limit":5}"#,
            reply: #"{"members":[\#(Self.member)],"next":"b"}"#)
        try checkWireForm(
            ChangeClassRole.self, "class_member.update", #"{"account":"ann","class":"\#(Self.id)","role":"ta"}"#,
            reply: Self.member)
        try checkWireForm(RemoveClassMember.self, "class_member.remove", #"{"account":"ann","class":"\#(Self.id)"}"#)
        try checkWireForm(
            ListAllClasses.self, "class.all", #"{\#(Self.page),"limit":5}"#,
            reply: #"{"classes":[\#(Self.entry)],"next":"b"}"#)
        try checkWireForm(
            GiveClass.self, "class.give", #"{"account":"ann","id":"\#(Self.id)"}"#, reply: Self.entry)
    }

    @Test("Study sessions: what is read")
    func reading() throws {
        try checkWireForm(
            ListSessions.self, "study_session.list", Self.ofClass, reply: #"{"now":7,"sessions":[\#(Self.session)]}"#)
        try checkWireForm(GetSession.self, "study_session.get", Self.inClass, reply: Self.answer)
        try checkWireForm(
            FindNearSessions.self, "study_session.near", #"{"position":\#(Self.position),"radius":500}"#,
            reply: #"{"now":7,"sessions":[{"distance":40,"session":\#(Self.session)}]}"#)
        try checkWireForm(
            ReadOwnSessions.self, "study_session.own", "{}",
            reply: #"{"current":\#(Self.session),"hosted":[\#(Self.session)],"#
                + #""invites":[{"at":5,"by":"bob","session":\#(Self.session)}],"now":7}"#)
        try checkWireForm(
            ListOwnPastSessions.self, "study_session.past", #"{\#(Self.page),"limit":5}"#,
            reply: #"{"next":"b","sessions":[{"class":"\#(Self.id)","hosted":true,"id":"\#(Self.id)","joined":3,"minutes":60,"#
                + #""topics":["Waves"]}]}"#)
        let person = #"{"account":"ann","number":2}"#
        try checkWireForm(
            ListPastSessions.self, "study_session.history",
            #"{\#(Self.page),"class":"\#(Self.id)","from":1,"limit":5,"topic":"Waves","until":9}"#,
            reply: #"{"next":"b","sessions":[{"attendants":[{"joined":3,"minutes":60,"person":\#(person)}],"description":"d","#
                + #""ended":9,"host":\#(person),"id":"\#(Self.id)","place_name":"Library","posts":2,"reason":"time","#
                + #""sponsored":false,"starts":3,"topics":["Waves"]}]}"#)
    }

    @Test("Study sessions: what is changed")
    func changing() throws {
        let parts = #""place":\#(Self.place),"position":\#(Self.position)"#
        try checkWireForm(
            AddSession.self, "study_session.add",
            #"{"class":"\#(Self.id)","draft":{"attends":true,"description":"d","leave":true,"minutes":60,\#(parts),"#
                + #""sponsored":true,"topics":["Waves"]},"request_key":"k"}"#,
            reply: Self.answer)
        try checkWireForm(
            JoinSession.self, "study_session.join", #"{"class":"\#(Self.id)","id":"\#(Self.id)","leave":true}"#,
            reply: Self.answer)
        try checkWireForm(
            UpdateSession.self, "study_session.update",
            #"{"class":"\#(Self.id)","edit":{"description":"d","host":"bob","minutes":60,\#(parts),"topics":["Waves"]},"#
                + #""id":"\#(Self.id)"}"#,
            reply: Self.answer)
        try checkWireForm(LeaveSession.self, "study_session.leave", Self.inClass)
        try checkWireForm(EndSession.self, "study_session.end", Self.inClass)
        for presence in [#"{"ends":9,"state":"outside"}"#, #"{"inaccurate":true,"state":"never"}"#, #"{"state":"inside"}"#] {
            try checkWireForm(
                ReportPosition.self, "study_session.position",
                #"{"class":"\#(Self.id)","id":"\#(Self.id)","position":\#(Self.position)}"#, reply: presence)
        }
        try checkWireForm(
            InviteToSession.self, "study_session.invite",
            #"{"accounts":["bob"],"class":"\#(Self.id)","id":"\#(Self.id)"}"#, reply: #"{"invited":["bob"]}"#)
    }

    @Test("Posts, and the event of a class")
    func posts() throws {
        let removed = #"{"at":6,"by":"bob","number":1}"#
        let post =
            #"{"at":5,"author":"ann","id":"\#(Self.id)","number":2,"removed":\#(removed),"role":"student","text":"t"}"#
        let session = #""session":"\#(Self.id)""#
        try checkWireForm(
            ListPosts.self, "study_post.list", #"{\#(Self.page),"class":"\#(Self.id)","limit":5,\#(session)}"#,
            reply: #"{"next":"b","now":7,"posts":[\#(post)]}"#)
        try checkWireForm(
            AddPost.self, "study_post.add", #"{"class":"\#(Self.id)","request_key":"k",\#(session),"text":"t"}"#, reply: post)
        try checkWireForm(
            RemovePost.self, "study_post.remove", #"{"class":"\#(Self.id)","id":"\#(Self.id)",\#(session)}"#)
        let event = #"{"class":"\#(Self.id)","epoch":"\#(Self.id)","kind":"posts","number":7,\#(session)}"#
        let read = try JSONCoder.decode(ClassChanged.self, from: Data(event.utf8))
        #expect(String(decoding: try JSONCoder.encode(read), as: UTF8.self) == event)
        #expect(ClassChanged.name == "class.changed" && read.kind == .posts)
    }

    @Test("Commands that break a rule are refused, and the error names the field")
    func rules() {
        func wrong<C: Command>(_ type: C.Type, _ json: String) -> String? {
            violation { try C(payload: Data(json.utf8)) }?.field
        }
        func draft(_ fields: String) -> String { #"{"class":"\#(Self.id)","draft":{"place":\#(Self.place),\#(fields)}}"# }
        #expect(wrong(AddSession.self, draft(#""topics":["Waves"],"minutes":5"#)) == nil)
        #expect(wrong(AddSession.self, draft(#""topics":["Waves"],"minutes":4"#)) == "draft.minutes")
        #expect(wrong(AddSession.self, draft(#""topics":["Waves"],"minutes":1441"#)) == "draft.minutes")
        #expect(wrong(AddSession.self, draft(#""topics":[],"minutes":60"#)) == "draft.topics")
        #expect(wrong(AddSession.self, draft(#""topics":["a","b","c","d","e","f"],"minutes":60"#)) == "draft.topics")
        #expect(wrong(AddSession.self, draft(#""topics":["a","a"],"minutes":60"#)) == "draft.topics")
        #expect(wrong(AddSession.self, draft(#""topics":["A","a"],"minutes":60"#)) == "draft.topics")
        for same in [#" prisms ","Prisms"#, #"Prisms","Prisms\u200b"#, #"two  words","Two\u00a0words"#] {
            #expect(wrong(AddSession.self, draft(#""topics":["\#(same)"],"minutes":60"#)) == "draft.topics")
        }
        #expect(wrong(AddSession.self, draft(#""topics":["a"," "],"minutes":60"#)) == "draft.topics[1]")
        let attends = #""topics":["a"],"minutes":60,"attends":false"#
        #expect(wrong(AddSession.self, draft(attends)) == "draft.attends")
        #expect(wrong(AddSession.self, draft(attends + #","sponsored":true"#)) == nil)
        let edit = #"{"class":"\#(Self.id)","id":"\#(Self.id)","edit":"#
        #expect(wrong(UpdateSession.self, edit + #"{"minutes":0}}"#) == "edit.minutes")
        #expect(wrong(UpdateSession.self, edit + #"{"topics":[]}}"#) == "edit.topics")
        #expect(wrong(UpdateSession.self, edit + #"{"topics":["É","é"]}}"#) == "edit.topics")
        #expect(wrong(UpdateSession.self, edit + "{}}") == nil)
        let past = #"{"class":"\#(Self.id)","limit":5,"from":5"#
        #expect(wrong(ListPastSessions.self, past + #","until":6}"#) == nil)
        #expect(wrong(ListPastSessions.self, past + #","until":5}"#) == "until")
        for expires in ["253402300800000", "9223372036854775808", "1e30"] {
            let problem = violation(of: ClassKeyDraft.self, in: #"{"role":"ta","expires":\#(expires)}"#)
            #expect(problem?.field == "expires")
            #expect(problem?.problem.hasPrefix("expected an integer from 0 to 253402300799999") == true)
        }
        for radius in [0, 50_001] {
            #expect(wrong(FindNearSessions.self, #"{"position":\#(Self.position),"radius":\#(radius)}"#) == "radius")
        }
        let many = (0...StudyLimits.maxInvited).map { "\"a\($0)\"" }.joined(separator: ",")
        #expect(
            wrong(InviteToSession.self, #"{"class":"\#(Self.id)","id":"\#(Self.id)","accounts":[\#(many)]}"#) == "accounts")
        func post(_ text: String) -> String { #"{"class":"\#(Self.id)","session":"\#(Self.id)","text":"\#(text)"}"# }
        #expect(wrong(AddPost.self, post(String(repeating: "é", count: 1_000))) == nil)
        #expect(wrong(AddPost.self, post(String(repeating: "é", count: 1_001))) == "text")
        #expect(wrong(AddPost.self, post(" ")) == "text")
    }

    @Test("Nothing prints a key of a class")
    func secrets() throws {
        let key = try JSONCoder.decode(ClassKey.self, from: Data(Self.key.utf8))
        let join = JoinClass(key: key.code, address: "192.0.2.1")
        for text in ["\(key)", "\(join)", String(reflecting: key), String(reflecting: join)] {
            #expect(!text.contains("K7QF") && text.contains("…"))
        }
    }
}
