// A bot for `arena-bot pipe -- dotnet run` or, after `mcs Bot.cs` with the references of README.md, `-- mono Bot.exe`.
using System;
using System.Linq;
using System.Runtime.Serialization.Json;
using System.Text;
using System.Xml;
using System.Xml.Linq;

static class Bot {
    static readonly Random Chance = new Random();

    static int Choose(int[] legal, XElement view) {
        // Your own idea goes here; view.Element("hand") has the cards of the hand.
        return legal[Chance.Next(legal.Length)];
    }

    static string Answer(XElement decision) {
        var legal = decision.Element("legal").Elements().Select(each => (int)each).ToArray();
        int action = Choose(legal, decision.Element("sixthSense") ?? decision.Element("nullern"));
        return "{\"matchId\": \"" + (string)decision.Element("matchId") + "\", \"decisionId\": " +
            (int)decision.Element("decisionId") + ", \"action\": " + action + "}";
    }

    static void Main() {
        Console.InputEncoding = Encoding.UTF8;
        for (string line; (line = Console.ReadLine()) != null;) {
            var bytes = Encoding.UTF8.GetBytes(line);
            var message = XElement.Load(JsonReaderWriterFactory.CreateJsonReader(bytes, XmlDictionaryReaderQuotas.Max));
            var answers = message.Elements("decisions").Elements().Select(Answer).ToArray();
            if (answers.Length > 0) Console.WriteLine("{\"answers\": [" + string.Join(", ", answers) + "]}");
        }
    }
}
